// Buttons that copy text.
import { h, useState } from './vendor/preact.js';
import { icon, tags } from './elements.js';
/** @typedef {import('./elements.js').Child} Child */
const { button, span } = tags;

/** @param {string} value */
async function copy(value) {
  if (navigator.clipboard) return navigator.clipboard.writeText(value);
  const box = document.createElement('textarea'); // without TLS, the clipboard is available only on loopback
  box.value = value;
  document.body.append(box);
  box.select();
  document.execCommand('copy');
  box.remove();
}

/** @param {{value: string | (() => Promise<string>), label: string, text?: string}} props */
export function Copy({ value, label, text }) {
  const [done, setDone] = useState(false);
  const onClick = async () => {
    await copy(typeof value === 'string' ? value : await value());
    setDone(true);
    setTimeout(() => setDone(false), 1200);
  };
  return button(
    { type: 'button', class: text ? 'button' : 'bare', onClick, 'aria-label': text ? undefined : label, title: label },
    icon(done ? 'check' : 'copy'),
    text,
  );
}

/** An id with a button that copies it. @param {string} id @param {string} title of the button @param {Child} [text] */
export const idOf = (id, title, text = id) => span({ class: 'id' }, text, h(Copy, { value: id, label: title }));
