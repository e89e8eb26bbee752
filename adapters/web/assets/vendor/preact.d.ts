// What the page uses of Preact, its hooks and signals, and htm, in types. Written by hand.

export interface Signal<T> {
  value: T;
  peek(): T;
  subscribe(heard: (value: T) => void): () => void;
}
export interface ReadonlySignal<T> {
  readonly value: T;
  peek(): T;
  subscribe(heard: (value: T) => void): () => void;
}
export interface Ref<T> {
  current: T;
}
export interface Context<T> {
  Provider: (props: { value: T; children?: any }) => any;
  Consumer: (props: { children: (value: T) => any }) => any;
}
type Effect = () => void | (() => void);

export function signal<T>(value: T): Signal<T>;
export function signal<T = undefined>(): Signal<T | undefined>;
export function computed<T>(from: () => T): ReadonlySignal<T>;
export function effect(run: Effect): () => void;
export function batch<T>(run: () => T): T;
export function untracked<T>(run: () => T): T;
export function useSignal<T>(value: T): Signal<T>;
export function useSignal<T = undefined>(): Signal<T | undefined>;
export function useComputed<T>(from: () => T): ReadonlySignal<T>;
export function useSignalEffect(run: Effect): void;

export function useState<T>(first: T | (() => T)): [T, (next: T | ((before: T) => T)) => void];
export function useEffect(run: Effect, inputs?: readonly unknown[]): void;
export function useLayoutEffect(run: Effect, inputs?: readonly unknown[]): void;
export function useRef<T>(value: T): Ref<T>;
export function useRef<T>(value: T | null): Ref<T | null>;
export function useMemo<T>(make: () => T, inputs: readonly unknown[]): T;
export function useCallback<T>(callback: T, inputs: readonly unknown[]): T;
export function useContext<T>(context: Context<T>): T;
export function useId(): string;
export function createContext<T>(value: T): Context<T>;

export class Component {
  constructor(props?: any);
  props: any;
  setState(state: any): void;
}
export function Fragment(props: { children?: any }): any;
export function h(type: any, props: any, ...children: any[]): any;
export function render(view: any, parent: Element): void;
export const htm: {
  bind(make: typeof h): (strings: TemplateStringsArray, ...values: any[]) => any;
};
