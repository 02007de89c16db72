// A button that opens a dialog with a form. Errors from the server appear next to the field that they name.
import { h, useEffect, useId, useLayoutEffect, useRef, useState } from './vendor/preact.js';
import { RequestError, asSentence } from './api.js';
import { useSession } from './session.js';
import { Doing, toast } from './actions.js';
import { FileButton, submits, Tick, usePaste } from './controls.js';
import { icon, press, seen, tags } from './elements.js';
/** @import { FieldError, FormButtonProps, Part } from './types.js' */
/** @typedef {import('./elements.js').Child} Child @typedef {import('./controls.js').Typed} Typed */
const { button, dialog, div, fieldset, form, h2, input, label, legend, option, p, select, textarea } = tags;

/** A button that opens a form. @param {FormButtonProps} props */
export function FormButton(props) {
  // the first values of the fields
  const [typed, open] = useState(/** @type {Record<string, any>|undefined} */ (undefined));
  const { account } = useSession(); // the owner; known shortly after the page loads
  usePaste(props.paste && (text => account && open(props.paste?.(text))));
  return [
    button(
      { type: 'button', class: `button ${props.main ? 'main' : ''}`, disabled: !account, onClick: () => open({}) },
      icon(props.sign ?? 'plus'),
      props.label,
    ),
    typed && h(Box, { ...props, typed, close: () => open(undefined) }),
  ];
}

/** @param {FormButtonProps & {typed: Record<string, any>, close: () => void}} props */
function Box(props) {
  const box = useRef(/** @type {HTMLDialogElement|null} */ (null));
  const [result, setResult] = useState(/** @type {any} */ (undefined));
  const id = useId();
  useLayoutEffect(() => {
    box.current?.showModal();
  }, []);
  const close = () => box.current?.close(); // returns the focus to the button
  const sent = (/** @type {any} */ got) => {
    toast(...props.done(got));
    if (props.after?.(got, close)) setResult(got ?? {});
    else close();
  };
  return dialog(
    { ref: box, class: 'help create', 'aria-labelledby': id, onClose: props.close },
    h2({ id }, seen(props.title ?? props.label)),
    result === undefined
      ? h(Form, { ...props, sent, cancel: close })
      : h(After, { show: () => props.after?.(result, close), close }),
  );
}

/** @param {{show: () => Child, close: () => void}} props */
function After({ show, close }) {
  const el = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => el.current?.focus(), []);
  return div({ class: 'after', tabindex: -1, ref: el }, show(), div({ class: 'actions' }, press('', 'Close', close)));
}

/** Submits a form once at a time, and collects the errors. @param {() => Promise<void>} send */
function useSubmit(send) {
  const [errors, setErrors] = useState(/** @type {FieldError[]} */ ([]));
  const [busy, setBusy] = useState(false);
  const submit = submits(async () => {
    if (busy) return;
    setBusy(true);
    try {
      await send();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      setErrors(error instanceof RequestError ? error.errors : [{ where: '', msg: message }]);
    }
    setBusy(false);
  });
  return { errors, busy, submit };
}

/** @param {FormButtonProps & {typed: Record<string, any>, sent: (result: any) => void, cancel: () => void}} props */
function Form({ typed: first, parts, send, sent, cancel, ok, intro, label: name, stands }) {
  const [began] = useState(stands);
  const [starts] = useState(() => startsOf(parts));
  const [typed, set] = useState(first);
  // the options of a select can load after the form
  const values = { ...starts, ...startsOf(parts.filter(x => x.kind === 'select')), ...typed };
  const el = useRef(/** @type {HTMLFormElement|null} */ (null));
  const visible = parts.filter(x => !x.when || x.when(values));
  const { errors, busy, submit } = useSubmit(async () => sent(await send(bodyOf(visible, values), values)));
  useEffect(() => {
    if (errors.length)
      /** @type {HTMLElement|null|undefined} */ (
        el.current?.querySelector('[aria-invalid=true], .form-error')
      )?.focus();
  }, [errors]);
  const general = errors.filter(m => !visible.some(x => isAbout(m, x, visible)));
  const onKeyDown = (/** @type {KeyboardEvent} */ e) => {
    // Enter submits from the other fields without this
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && /** @type {Element} */ (e.target).matches('textarea'))
      el.current?.requestSubmit();
  };
  return form(
    { class: 'form', novalidate: true, ref: el, onSubmit: submit, onKeyDown },
    intro,
    general.length > 0 &&
      div(
        { class: 'form-error', role: 'alert', tabindex: -1 },
        general.map(m => p({ key: m.where + m.msg }, asSentence(m.msg))),
      ),
    stands !== began &&
      !busy &&
      p({ class: 'changed', role: 'alert' }, icon('warn'), 'The record has changed. Saving overwrites the change.'),
    visible.map(x =>
      h(Field, {
        key: x.name,
        part: x,
        value: values[x.name],
        wrong: errors.filter(m => isAbout(m, x, visible)),
        onChange: v => set(old => ({ ...old, [x.name]: v })),
      }),
    ),
    div(
      { class: 'actions' },
      h(Doing, { label: 'Send' }, button({ class: 'button main', 'aria-busy': busy ? 'true' : undefined }, ok ?? name)),
      press('', 'Cancel', cancel),
    ),
  );
}

/** The first values of the fields. @param {Part[]} parts @returns {Record<string, any>} */
const startsOf = parts =>
  Object.fromEntries(parts.map(x => [x.name, x.start ?? (x.kind === 'ticks' ? [] : x.kind === 'tick' ? false : '')]));

/**
 * Reports whether an error belongs to a field: it names the field, a part of it, or an object whose first field it is.
 * @param {FieldError} m
 * @param {Part} x
 * @param {Part[]} all
 */
function isAbout({ where }, x, all) {
  const within = (/** @type {string} */ whole, /** @type {string} */ part) => (part + '.').startsWith(whole + '.');
  const at = (/** @type {Part} */ y) => (y.aside ? 'query.' : 'body.') + y.name;
  if (within(at(x), where)) return true;
  return where !== 'body' && !all.some(y => within(at(y), where)) && all.find(y => within(where, at(y))) === x;
}

/** The body without empty values. @param {Part[]} parts @param {Record<string, any>} values */
function bodyOf(parts, values) {
  const body = {};
  for (const x of parts) {
    const value = x.read ? x.read(values[x.name]) : values[x.name];
    if (x.aside || value === '' || value === undefined || (Array.isArray(value) && !value.length)) continue;
    const path = x.name.split('.');
    const last = /** @type {string} */ (path.pop());
    const at = path.reduce((o, name) => (o[name] ??= {}), /** @type {any} */ (body));
    at[last] = value;
  }
  return body;
}

/** @param {{part: Part, value: any, wrong: FieldError[], onChange: (v: any) => void}} props */
function Field({ part: x, value, wrong, onChange }) {
  const id = useId();
  const about = typeof x.note === 'function' ? x.note(value) : x.note;
  const noteId = wrong.length || about ? id + 'note' : undefined;
  const common = { id, name: x.name, 'aria-invalid': wrong.length ? 'true' : undefined, 'aria-describedby': noteId };
  const note =
    noteId &&
    div(
      { id: noteId, class: 'note' },
      wrong.map(m => p({ class: 'field-error', key: m.msg }, icon('warn'), asSentence(m.msg))),
      about && p({ class: 'dim' }, about),
    );
  if (x.kind === 'ticks')
    return fieldset({ class: 'pick', 'aria-describedby': noteId }, ticks(x, value, wrong.length > 0, onChange, note));
  if (x.kind === 'tick')
    return div({ class: 'pick' }, h(Tick, { label: x.label, checked: value, onChange, more: common }), note);
  return div(
    { class: 'pick' },
    label({ for: id }, x.label),
    control(x, { ...common, value }, (/** @type {Typed} */ e) => onChange(e.target.value)),
    note,
    x.file &&
      h(FileButton, {
        text: 'Choose file',
        label: `${x.label} from a file`,
        accept: x.file,
        onFile: async file => onChange(await file.text()),
      }),
  );
}

/**
 * The checkboxes of a field, and the button for all of them.
 * @param {Part} x
 * @param {string[]} value
 * @param {boolean} wrong
 * @param {(v: string[]) => void} onChange
 * @param {Child} note
 */
function ticks({ label: name, options = [] }, value, wrong, onChange, note) {
  const put = (/** @type {string} */ v, /** @type {boolean} */ on) =>
    onChange(on ? [...value, v] : value.filter(w => w !== v));
  const toggle = () => onChange(value.length ? [] : options.map(([v]) => v));
  return [
    legend(name, ' ', press('', value.length ? 'None' : 'All', toggle, { class: 'quiet' })),
    note,
    div(
      { class: 'ticks' },
      options.map(([v, text], n) =>
        h(Tick, {
          key: v,
          label: text,
          checked: value.includes(v),
          onChange: on => put(v, on),
          more: { 'aria-invalid': wrong && !n ? 'true' : undefined },
        }),
      ),
    ),
  ];
}

/** @param {Part} x @param {Record<string, any>} common attributes @param {(e: Typed) => void} typed */
function control({ kind, options, hint }, common, typed) {
  if (kind === 'select')
    return select(
      { ...common, onChange: typed },
      options?.map(([v, text]) => option({ key: v, value: v, selected: v === common.value }, text)),
    );
  if (kind === 'area')
    return textarea({ ...common, class: 'mono', rows: 5, spellcheck: false, placeholder: hint, onInput: typed });
  return input({
    ...common,
    type: kind === 'number' ? 'number' : kind === 'time' ? 'datetime-local' : 'text',
    step: kind === 'time' ? 1 : undefined,
    placeholder: hint,
    autocomplete: 'off',
    onInput: typed,
  });
}

/** The number in a field, if any. @param {string} v */
export const number = v => (v === '' ? undefined : Number(v));

/** Words that are separated by commas. @param {string} v */
export const words = v =>
  v
    .split(',')
    .map(s => s.trim())
    .filter(Boolean);
