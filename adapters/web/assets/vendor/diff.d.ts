// What the page uses of diff, in types. Written by hand.

export interface Change<T> {
  value: T;
  count: number;
  added: boolean;
  removed: boolean;
}
export interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}
export interface Patch {
  oldFileName?: string;
  newFileName?: string;
  hunks: Hunk[];
}
export function diffWordsWithSpace(before: string, after: string, options?: object): Change<string>[];
export function diffArrays<T>(before: T[], after: T[], options?: object): Change<T[]>[];
export function parsePatch(text: string): Patch[];
export function structuredPatch(oldName: string, newName: string, before: string, after: string,
  oldHeader?: string, newHeader?: string, options?: object): Patch;
export function createTwoFilesPatch(oldName: string, newName: string, before: string, after: string,
  oldHeader?: string, newHeader?: string, options?: object): string;
