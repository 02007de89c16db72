// What the console uses of Preact, so that its own code is checked without Preact's whole set of types.
export type Child = VNode | string | number | boolean | null | undefined | Child[];
export interface VNode { type: unknown; props: Record<string, unknown>; key: unknown }
export function h<P>(type: string | ((props: P) => Child), props: (P & { key?: unknown }) | Record<string, unknown> | null, ...children: Child[]): VNode;
export function render(what: Child, into: Element): void;
export function useState<T>(first: T | (() => T)): [T, (next: T | ((old: T) => T)) => void];
export function useEffect(effect: () => void | (() => void), on?: unknown[]): void;
export function useLayoutEffect(effect: () => void | (() => void), on?: unknown[]): void;
export function useMemo<T>(make: () => T, on: unknown[]): T;
export function useRef<T>(first: T): { current: T };
export function useId(): string;
