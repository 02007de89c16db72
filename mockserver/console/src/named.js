// Links to records, with their names.
import { useFetch } from './api.js';
import { seen, tags } from './elements.js';
import { ofAccount } from './session.js';
/** @import { Fetched } from './types.js' */
const { a, bdi, span } = tags;

/** @type {Record<string, string>} */
const places = { list: 'contacts', template: 'templates', campaign: 'campaigns', workflow: 'workflows' };

/**
 * A record with its name and its id.
 * @param {{kind: 'list'|'template'|'campaign'|'workflow', id: number, at?: string}} props at: the rest of the address
 */
export function Named({ kind, id, at = '' }) {
  const { data } = /** @type {Fetched<any>} */ (
    useFetch(kind === 'template' ? ofAccount(`/templates/${id}`) : `/${kind}s?around=${id}&limit=1`, ['records'])
  );
  const name = (kind === 'template' ? data : data?.data.find((/** @type {{id: string}} */ r) => r.id === String(id)))
    ?.name;
  return a(
    { href: `#/${places[kind]}/${id}${at}` },
    kind,
    ' ',
    name && [bdi(seen(name)), ' '],
    span({ class: 'dim' }, id),
  );
}
