// What the page uses of noVNC, in types. Written by hand.

export class RFB extends EventTarget {
  constructor(target: HTMLElement, url: string);
  background: string;
  scaleViewport: boolean;
  viewOnly: boolean;
  disconnect(): void;
  focus(): void;
}
