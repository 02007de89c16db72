// The values that this browser stores.

/** A stored value. Another page of this origin can store invalid data under the same name. @param {string} name */
export function stored(name) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}
