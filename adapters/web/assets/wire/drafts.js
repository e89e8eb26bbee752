// Drafts: what somebody has written and not sent, kept in this browser until it is sent.
//
//   await drafts.get(key)        the draft of a chat ("new": of one that is not begun), or null
//   drafts.put(key, draft)       a draft is plain data
//   drafts.drop(key)
//   drafts.heard(key, fn)        another tab has written or dropped it; returns what ends that
//
//   drafts.leave(key, text)      keep a text for the next page, at once: this one ends, and has read no draft
//   drafts.left(key)             that text, or ""
//
// Where a browser keeps nothing (a private window of some) drafts live as long as the page.

const NAME = "promptcorner-drafts";
const STORE = "drafts";
const DAYS_MAX = 90; // a draft that nobody has touched for so long is dropped when the page opens

/** @type {Map<string, any>} */
const kept = new Map(); // what no database has: it is being written, there is none, or it fails
/** @type {Map<string, Set<() => void>>} */
const listeners = new Map();
const channel = new BroadcastChannel(NAME);
channel.onmessage = (/** @type {MessageEvent} */ { data }) => listeners.get(data)?.forEach((heard) => heard());

/** @type {Promise<IDBDatabase | null> | null} */
let opening = null;

/** @returns {Promise<IDBDatabase | null>} */
function database() {
  opening ??= new Promise((resolve) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onerror = () => resolve(null);
    request.onblocked = () => resolve(null);
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
      dropOld(request.result);
    };
  });
  return opening;
}

/**
 * Do one thing with the drafts; null if it cannot be done.
 * @template T
 * @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} act
 * @returns {Promise<T | null>}
 */
async function within(mode, act) {
  const open = await database();
  if (!open) return null;
  return new Promise((resolve) => {
    try {
      const transaction = open.transaction(STORE, mode);
      const request = act(transaction.objectStore(STORE));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => resolve(null);
      transaction.commit(); // at once: what is not committed is undone when the page ends
    } catch {
      resolve(null); // the database was closed meanwhile
    }
  });
}

/** @param {IDBDatabase} open */
function dropOld(open) {
  const since = Date.now() - DAYS_MAX * 86_400_000;
  const request = open.transaction(STORE, "readwrite").objectStore(STORE).openCursor();
  request.onsuccess = () => {
    const cursor = request.result;
    if (!cursor) return;
    if (!(cursor.value?.at > since)) cursor.delete();
    cursor.continue();
  };
}

const LEFT = `${NAME}.left.`;

export const drafts = {
  /** @param {string} key @returns {string} */
  left(key) {
    try {
      return localStorage.getItem(LEFT + key) ?? "";
    } catch {
      return "";
    }
  },

  /** @param {string} key @param {string} text */
  leave(key, text) {
    try {
      if (text) localStorage.setItem(LEFT + key, text);
      else localStorage.removeItem(LEFT + key);
    } catch {
      // It is full, or may not be used.
    }
  },

  /** @param {string} key @returns {Promise<any>} */
  async get(key) {
    return kept.get(key) ?? (await within("readonly", (store) => store.get(key))) ?? null;
  },

  /** @param {string} key @param {{at: number, [name: string]: any}} draft */
  async put(key, draft) {
    kept.set(key, draft);
    const stored = await within("readwrite", (store) => store.put(draft, key));
    if (stored !== null && kept.get(key) === draft) kept.delete(key); // another tab may drop it from now on
    channel.postMessage(key);
  },

  /** @param {string} key */
  async drop(key) {
    kept.delete(key);
    await within("readwrite", (store) => store.delete(key));
    channel.postMessage(key);
  },

  /** @param {string} key @param {() => void} heard */
  heard(key, heard) {
    const all = listeners.get(key) ?? new Set();
    listeners.set(key, all.add(heard));
    return () => {
      all.delete(heard);
      if (!all.size) listeners.delete(key);
    };
  },
};
