// What the page uses of xterm.js, in types. Written by hand.

export interface Disposable {
  dispose(): void;
}
export interface Options {
  allowProposedApi?: boolean;
  cursorBlink?: boolean;
  fontFamily?: string;
  fontSize?: number;
  lineHeight?: number;
  macOptionIsMeta?: boolean;
  minimumContrastRatio?: number;
  screenReaderMode?: boolean;
  scrollback?: number;
  theme?: Record<string, string>;
}
export class Terminal {
  constructor(options?: Options);
  readonly cols: number;
  readonly rows: number;
  readonly textarea: HTMLTextAreaElement | undefined;
  options: Options;
  attachCustomKeyEventHandler(handler: (event: KeyboardEvent) => boolean): void;
  dispose(): void;
  focus(): void;
  loadAddon(addon: FitAddon): void;
  onBinary(listener: (data: string) => void): Disposable;
  onData(listener: (data: string) => void): Disposable;
  open(parent: HTMLElement): void;
  reset(): void;
  resize(columns: number, rows: number): void;
  write(data: string | Uint8Array, done?: () => void): void;
}
export class FitAddon {
  proposeDimensions(): { cols: number; rows: number } | undefined;
}
