// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is behind "More": things that are not needed on every visit.
import { post } from './api';
import type { ServerState } from './api';
import { writeLocal } from './clipboard';
import type { Sheets } from './sheets';
import type { MoreItem } from './sheets';
import type { Word } from './words';

export interface MoreHost {
  server: () => ServerState | null;
  canvas: () => HTMLCanvasElement | null;
  isPanelBeside: () => boolean;
  openMessages: () => void;
  typeDirectly: () => void;
  allowWatchers: (isAllowed: boolean) => void;
  tell: (word: Word) => void;
}

export class More {
  constructor(
    private readonly sheets: Sheets,
    private readonly host: MoreHost,
  ) {}

  items(): MoreItem[] {
    const { sheets, host } = this;
    const server = host.server();
    const isHolder = server?.holder === 'you';
    const items: MoreItem[] = [];
    const add = (is: boolean, item: MoreItem) => is && items.push(item);
    add(!host.isPanelBeside(), { word: 'messages', icon: 'message', run: host.openMessages });
    add(isHolder, { word: 'pointer', icon: 'pointer', run: () => sheets.toggle('pointer') });
    add(isHolder, { word: 'direct', icon: 'type', run: host.typeDirectly });
    add(server?.role === 'control', { word: 'share', icon: 'share', run: () => void this.share() });
    add(document.fullscreenEnabled, {
      word: 'full_screen',
      icon: 'full',
      run: () => void this.goFullScreen(),
    });
    add(true, { word: 'save_picture', icon: 'save', run: () => this.savePicture() });
    const isAllowed = server?.watchers_allowed === true;
    add(isHolder && server.takeover !== null, {
      word: 'allow_watchers',
      icon: 'eyes',
      isOn: isAllowed,
      run: () => host.allowWatchers(host.server()?.watchers_allowed !== true),
    });
    return items;
  }

  private async share() {
    try {
      const { url } = (await post('share')) as { url: string };
      this.sheets.close();
      if (matchMedia('(pointer: coarse)').matches && 'share' in navigator) {
        await navigator.share({ url }).catch(() => {});
      } else if (await writeLocal(Promise.resolve(url))) this.host.tell('shared');
      else this.sheets.showText('share', url);
    } catch {
      this.host.tell('failed');
    }
  }

  private async goFullScreen() {
    this.sheets.close();
    if (document.fullscreenElement) return document.exitFullscreen();
    await document.documentElement.requestFullscreen().catch(() => {});
    // There, browsers also let go of the keys that they keep.
    const { keyboard } = navigator as { keyboard?: { lock: () => Promise<void> } };
    await keyboard?.lock().catch(() => {});
  }

  private savePicture() {
    this.host.canvas()?.toBlob((blob) => {
      if (!blob) return;
      const link = document.createElement('a');
      link.href = URL.createObjectURL(blob);
      link.download = 'screen.png';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  }
}
