// What the page uses of lowlight, in types. Written by hand.

export interface Node {
  type: string;
  value?: string;
  properties?: { className?: string[] };
  children?: Node[];
}
export interface Lowlight {
  highlight(language: string, text: string): Node;
  highlightAuto(text: string): Node;
  registered(language: string): boolean;
  register(grammars: Record<string, unknown>): void;
  listLanguages(): string[];
}
export const common: Record<string, unknown>;
export function createLowlight(grammars?: Record<string, unknown>): Lowlight;
