// SPDX-License-Identifier: GPL-2.0-or-later
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['node_modules/'] },
  {
    files: ['src/**/*.ts'],
    extends: [tseslint.configs.strict, tseslint.configs.stylistic],
    languageOptions: { parserOptions: { project: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'no-console': 'error', // nothing that a person types may ever reach a log
      'prefer-const': 'error',
      eqeqeq: 'error',
      'max-lines': ['error', { max: 600, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipComments: true }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-empty-function': 'off', // handlers that are not set
      // Elements that index.html has, and indexes that were just checked.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
    },
  },
);
