/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unit tests of the xdotool language's pure parts: command lines and scripts. No X server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "display/xdotool_private.h"

#define WORDS_MAX 20

/* Parses a command line of words parted by single blanks. */
struct line {
	char *text;
	const char *words[WORDS_MAX];
	size_t count;
	struct xdotool_chain chain;
};

static void parse(struct line *line, const char *text)
{
	size_t spec_count;
	const struct xdotool_spec *specs = xdotool_specs(&spec_count);
	line->text = xstrdup(text);
	line->count = 0;
	for (char *save = NULL, *word = strtok_r(line->text, " ", &save); word != NULL;
		word = strtok_r(NULL, " ", &save))
		line->words[line->count++] = word;
	xdotool_parse(specs, spec_count, line->words, line->count, &line->chain);
}

static void finish(struct line *line)
{
	xdotool_chain_finish(&line->chain);
	free(line->text);
}

/* The parsed chain as text: "click[delay=5]{window}(words); …", or "! first line of the error". */
static char *describe(const char *text)
{
	struct line line;
	struct buffer out = {0};
	parse(&line, text);
	for (size_t i = 0; i < line.chain.count; i++) {
		const struct xdotool_command *command = &line.chain.commands[i];
		buffer_printf(&out, "%s%s", i > 0 ? "; " : "", command->spec->name);
		for (size_t j = 0; j < command->given_count; j++)
			buffer_printf(&out, "[%d=%s]", (int)command->given[j].option,
				command->given[j].value);
		if (command->window != NULL)
			buffer_printf(&out, "{%s}", command->window);
		for (size_t j = 0; j < command->word_count; j++)
			buffer_printf(&out, "%s%s", j == 0 ? "(" : " ", command->words[j]);
		buffer_printf(&out, "%s", command->word_count > 0 ? ")" : "");
		assert_int_equal(command->is_last, i + 1 == line.chain.count);
	}
	if (line.chain.error != NULL)
		buffer_printf(&out, "! %.*s", (int)strcspn(line.chain.error, "\n"),
			line.chain.error);
	buffer_append(&out, "", 1);
	finish(&line);
	return (char *)out.data;
}

static void expect(const char *text, const char *wanted)
{
	char *got = describe(text);
	assert_string_equal(got, wanted);
	free(got);
}

/* The same with one option in it. */
static void expect_option(
	const char *text, const char *head, enum xdotool_option option, const char *tail)
{
	char *wanted = xasprintf("%s[%d=%s", head, (int)option, tail);
	expect(text, wanted);
	free(wanted);
}

static void commands_follow_each_other(void **state)
{
	expect("mousemove 10 20 click 1", "mousemove(10 20); click(1)");
	expect("MouseMove 10 20 CLICK 1", "mousemove(10 20); click(1)");
	expect("search x -- getwindowname", "search(x); getwindowname");
	expect("mousemove restore click 1", "mousemove(restore); click(1)");
	expect("sleep 0.5 sleep .5", "sleep(0.5); sleep(.5)");
}

static void a_mistake_is_found_before_anything_is_done(void **state)
{
	expect("mousemove 1 2 bogus", "! xdotool: Unknown command: bogus");
	expect("mousemove 1", "! mousemove: too few arguments (got 1, wants 2)");
	expect("mousemove a 2", "! mousemove: 'a' is no coordinate");
	expect("click 1 click 10", "! click: '10' is no button: they are 1 to 9");
	expect("click", "! click: too few arguments (got 0, wants 1)");
	expect("sleep x", "! sleep: 'x' is no number of seconds from 0 to 86400");
	expect("sleep nan", "! sleep: 'nan' is no number of seconds from 0 to 86400");
	expect("exec ls", "! exec: not here: this xdotool acts on the screen only and starts no programs");
	expect("selectwindow", "! selectwindow: not here: it waits for a person at the screen");
	expect("behave 1 focus key a", "! behave: not here: it waits for a person at the screen");
	expect("search [", "! search: Failed to compile regex '[': Invalid regular expression");
	expect("windowstate 5", "! windowstate: one of --add, --remove and --toggle is needed");
	expect("windowstate --add NOSUCH 5", "! windowstate: unknown state 'NOSUCH'");
	expect("mousemove --screen 1 2 3", "! mousemove: there is one screen, 0");
}

static void options_go_by_getopt_long_only(void **state)
{
	expect_option("click --delay 5 1", "click", XDOTOOL_DELAY, "5](1)");
	expect_option("click -delay 5 1", "click", XDOTOOL_DELAY, "5](1)");
	expect_option("click --del 5 1", "click", XDOTOOL_DELAY, "5](1)");
	expect_option("click --delay=5 1", "click", XDOTOOL_DELAY, "5](1)");
	expect_option("click -delay=0x10 1", "click", XDOTOOL_DELAY, "0x10](1)");
	expect_option("mousemove -c 1 2", "mousemove", XDOTOOL_CLEAR_MODIFIERS, "](1 2)");
	expect_option("mousemove --clearmod 1 2", "mousemove", XDOTOOL_CLEAR_MODIFIERS, "](1 2)");
	expect_option("mousemove -w 7 1 2", "mousemove", XDOTOOL_WINDOW, "7]{7}(1 2)");
	expect_option("mousemove -w7 1 2", "mousemove", XDOTOOL_WINDOW, "7]{7}(1 2)");
	expect_option("windowsize -u 80 24", "windowsize", XDOTOOL_USE_HINTS, "](80 24)");
	expect_option("set_window --icon x 7", "set_window", XDOTOOL_ICON_NAME, "x]{7}");
	expect_option("set_window --class x 7", "set_window", XDOTOOL_SET_CLASS, "x]{7}");
	expect_option("search --class x", "search", XDOTOOL_CLASS, "](x)");
	expect("mousemove --s 1 2",
		"! mousemove: option '--s' is ambiguous; possibilities: '--screen' '--sync'");
	expect("click --repeat", "! click: option '--repeat' requires an argument");
	expect("click --repeat x 1", "! click: option '--repeat' wants a number, not 'x'");
	expect("click --repeat 3000000000 1",
		"! click: option '--repeat' wants a number, not '3000000000'");
	expect("click --repeat -1 1", "! click: option '--repeat' wants a number, not '-1'");
	expect("mousemove --sync=1 2 3", "! mousemove: option '--sync' doesn't allow an argument");
	expect("getwindowfocus --bogus", "! getwindowfocus: unrecognized option '--bogus'");
	expect("mousemove 1 2 --sync", "! xdotool: Unknown command: --sync");
}

static void negative_numbers_stand_behind_two_dashes(void **state)
{
	expect("mousemove_relative -- -5 0", "mousemove_relative(-5 0)");
	expect("mousemove_relative -5 0", "! mousemove_relative: unrecognized option '-5'");
	expect_option("set_desktop --relative -- -1", "set_desktop", XDOTOOL_RELATIVE, "](-1)");
	expect("type -- -1", "type(-1)");
	expect("type -1", "! type: unrecognized option '-1'");
	expect("type -mypassword", "! type: unrecognized option '-mypassword'");
	struct line line;
	parse(&line, "type -1");
	assert_non_null(strstr(line.chain.error, "type -- -1"));
	finish(&line);
}

static void words_end_where_the_command_says(void **state)
{
	expect("key a b click 1", "key(a b); click(1)");
	expect("type a click 1", "type(a click 1)");
	expect_option("type --args 2 a b click 1", "type", XDOTOOL_ARGS, "2](a b); click(1)");
	expect_option("type --terminator . a b . click 1", "type", XDOTOOL_TERMINATOR,
		".](a b); click(1)");
	expect_option("type --file -", "type", XDOTOOL_FILE, "-]");
	expect("type", "! type: too few arguments (got 0, wants 1)");
	expect("key", "! key: too few arguments (got 0, wants 1)");
	expect("key click 1", "! key: too few arguments (got 0, wants 1)");
	expect_option("search --pid 5 getwindowname", "search", XDOTOOL_PID, "5]; getwindowname");
	expect_option("search --pid 5 x getwindowname", "search", XDOTOOL_PID,
		"5](x); getwindowname");
	expect("search", "! search: too few arguments (got 0, wants 1)");
}

static void a_window_may_stand_in_front(void **state)
{
	expect("windowsize 100 200 key a", "windowsize(100 200); key(a)");
	expect("windowsize 7 100 200 key a", "windowsize{7}(100 200); key(a)");
	expect("windowsize %@ 100 200", "windowsize{%@}(100 200)");
	expect("windowsize 7", "! windowsize: too few arguments (got 1, wants 2)");
	expect("getwindowname", "getwindowname");
	expect("getwindowname %2 getwindowpid", "getwindowname{%2}; getwindowpid");
	expect("windowmove 7 x 50%", "windowmove{7}(x 50%)");
	expect("windowmove 7 y 5", "! windowmove: 'y' is no place: a number, a percentage of the "
				   "screen, or 'x' to leave it");
	expect("getmouselocation 7", "! xdotool: Unknown command: 7");
}

static void help_swallows_the_line(void **state)
{
	expect_option("click --help 1 bogus", "click", XDOTOOL_HELP, "]");
	expect_option("exec -h", "exec", XDOTOOL_HELP, "]");
	size_t count;
	const struct xdotool_spec *specs = xdotool_specs(&count);
	for (size_t i = 0; i < count; i++) {
		char *usage = xdotool_usage(&specs[i]);
		assert_memory_equal(usage, "Usage: ", 7);
		assert_non_null(strstr(usage, specs[i].name));
		assert_non_null(strstr(usage, "--help"));
		assert_true(specs[i].start != NULL || specs[i].check == xdotool_refuse);
		free(usage);
	}
}

static void unknown_keys_are_named_and_nothing_is_sent(void **state)
{
	expect("key a nosuch b", "! key: Invalid key sequence 'nosuch': unknown key name "
				 "\"nosuch\"; nothing was sent");
	expect("key ctrl-s", "! key: Invalid key sequence 'ctrl-s': unknown key name \"ctrl-s\": the "
			     "keys of a chord are joined with '+', not '-'; nothing was sent");
	expect("key ctrl+nosuch", "! key: Invalid key sequence 'ctrl+nosuch': unknown key name "
				  "\"nosuch\"; nothing was sent");
	expect("key 7", "key(7)");
	expect("key 38", "key(38)");
	expect("key 256", "! key: Invalid key sequence '256': unknown key name \"256\"; nothing was "
			  "sent");
	expect("key ctrl++ +", "key(ctrl++ +)");
	expect("key enter PageDown pgdn backtick esc ArrowDown cmd+c U20AC 0x20ac",
		"key(enter PageDown pgdn backtick esc ArrowDown cmd+c U20AC 0x20ac)");
}

/* Scripts */

static const char *const script_args[] = {"one", "two words"};
static const char *const script_environment[] = {"HOME=/home/me", "HOMEX=wrong", "EMPTY="};

/* The script as text: "[1]a|b [3]c", or the error. */
static void expect_script(const char *text, const char *wanted)
{
	struct xdotool_script script;
	struct buffer out = {0};
	xdotool_script_parse(text, strlen(text), script_args, 2, script_environment, 3, &script);
	for (size_t i = 0; i < script.count; i++) {
		buffer_printf(&out, "%s[%d]", i > 0 ? " " : "", script.lines[i].number);
		for (size_t j = 0; j < script.lines[i].count; j++)
			buffer_printf(&out, "%s%s", j > 0 ? "|" : "", script.lines[i].words[j]);
	}
	if (script.error != NULL)
		buffer_printf(&out, "%s", script.error);
	buffer_append(&out, "", 1);
	assert_string_equal((char *)out.data, wanted);
	buffer_finish(&out);
	xdotool_script_finish(&script);
}

static void scripts_are_lines_of_words(void **state)
{
	expect_script("", "");
	expect_script("mousemove 1 2\n\n  click\t1  \r\n", "[1]mousemove|1|2 [3]click|1");
	expect_script("#!/usr/bin/xdotool\n# note\nkey a # note\nkey a#b", "[3]key|a [4]key|a#b");
}

static void quotes_keep_blanks_and_have_no_escapes(void **state)
{
	expect_script("type \"a b  c\"", "[1]type|a b  c");
	expect_script("type 'say \"hi\"' \"it's\"", "[1]type|say \"hi\"|it's");
	expect_script("type it's a\"b", "[1]type|it's|a\"b");
	expect_script("type \"a\\nb\" '$1' '#'", "[1]type|a\\nb|$1|#");
	expect_script("search \"\"", "[1]search|");
	expect_script("key a\ntype --clearmodifiers -- \"\n",
		"xdotool: line 2: the quote \" is not closed on its line\n");
	expect_script("type 'abc\n'", "xdotool: line 1: the quote ' is not closed on its line\n");
}

static void dollars_are_arguments_and_variables(void **state)
{
	expect_script("type $1 $2 x$1", "[1]type|one|two words|x$1");
	expect_script("type $HOME/x $HOME $EMPTY $", "[1]type|/home/me/x|/home/me||$");
	expect_script("key a\nkey $3", "xdotool: line 2: argument $3 was not given\n");
	expect_script("key $0", "xdotool: line 1: argument $0 was not given\n");
	expect_script("key $NOSUCH", "xdotool: line 1: environment variable $NOSUCH is not set\n");
}

static void a_script_with_a_nul_is_refused(void **state)
{
	struct xdotool_script script;
	xdotool_script_parse("key a\0b", 7, NULL, 0, NULL, 0, &script);
	assert_non_null(script.error);
	assert_int_equal(script.count, 0);
	xdotool_script_finish(&script);
}

static void numbers_and_coordinates(void **state)
{
	long number;
	int value;
	assert_true(xdotool_parse_number("0x20", &number) && number == 32);
	assert_true(xdotool_parse_number("010", &number) && number == 8);
	assert_false(xdotool_parse_number("", &number));
	assert_false(xdotool_parse_number("1x", &number));
	assert_false(xdotool_parse_number("99999999999999999999", &number));
	assert_true(xdotool_parse_coordinate("10.7", &value) && value == 10);
	assert_true(xdotool_parse_coordinate("-3", &value) && value == -3);
	assert_false(xdotool_parse_coordinate("0x10", &value));
	assert_false(xdotool_parse_coordinate("nan", &value));
	assert_false(xdotool_parse_coordinate("1e3", &value));
	assert_false(xdotool_parse_coordinate("99999999999", &value));
	assert_false(xdotool_parse_coordinate("", &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_follow_each_other),
		cmocka_unit_test(a_mistake_is_found_before_anything_is_done),
		cmocka_unit_test(options_go_by_getopt_long_only),
		cmocka_unit_test(negative_numbers_stand_behind_two_dashes),
		cmocka_unit_test(words_end_where_the_command_says),
		cmocka_unit_test(a_window_may_stand_in_front),
		cmocka_unit_test(help_swallows_the_line),
		cmocka_unit_test(unknown_keys_are_named_and_nothing_is_sent),
		cmocka_unit_test(scripts_are_lines_of_words),
		cmocka_unit_test(quotes_keep_blanks_and_have_no_escapes),
		cmocka_unit_test(dollars_are_arguments_and_variables),
		cmocka_unit_test(a_script_with_a_nul_is_refused),
		cmocka_unit_test(numbers_and_coordinates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
