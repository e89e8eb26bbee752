export {h, render, Fragment, Component, createContext} from "preact";
export {
  useCallback, useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState,
} from "preact/hooks";
export {
  batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect,
} from "@preact/signals";
export {default as htm} from "htm";
