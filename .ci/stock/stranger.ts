// What somebody writes who has openapi.yaml, openapi-typescript, openapi-fetch and
// nothing else of this repository: it calls a platform, and reads deliveries.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import createClient from 'openapi-fetch'
import type { components, paths } from './openapi.d.ts'

type Event = components['schemas']['Event']

const [baseUrl, token, deliveries] = process.argv.slice(2) as [string, string, string]
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } })

const created = await client.POST('/lists', { body: { name: 'Readers' } })
assert.equal(created.data?.name, 'Readers')
const id = created.data.list_id

const page = await client.GET('/lists', { params: { query: { with_count: true } } })
assert.ok(page.data)
assert.ok(page.data.data.some((list) => list.list_id === id))
assert.equal(page.data.pagination.count, page.data.data.length)

const refused = await client.POST('/lists/{list_id}/contacts', {
	params: { path: { list_id: id } },
	body: { email: 'ada@example.org', tags: ['vip', ''] },
})
assert.equal(refused.response.status, 422)
assert.deepEqual(refused.error?.detail[0]?.loc, ['body', 'tags', 1])

const nobody = await createClient<paths>({ baseUrl }).GET('/tags')
assert.equal(nobody.error?.detail[0]?.type, 'unauthorized')

// The event's name tells the types of its data apart.
function about(event: Event): string | number {
	switch (event.event) {
		case 'Email.Bounced':
			return 'bounce' in event.data ? event.data.bounce.category : event.data.email.id
		case 'Email.ReportedAsSpam':
			return 'fbl' in event.data ? event.data.fbl.provider : event.data.email.id
		case 'SuppressedEmail.Added':
			return event.data.suppressedEmail.email
		case 'Contact.Added':
			return event.data.email_address
		default:
			return event.event
	}
}

// One that a program makes itself, as its tests do.
const made: Event = {
	event: 'Contact.Added',
	timestamp: '2026-01-01T00:00:00Z',
	data: { contact_id: '7', list_id: '8', email_address: 'ada@example.org', added_at: '2026-01-01T00:00:00Z' },
}
assert.equal(about(made), 'ada@example.org')

const files = readdirSync(deliveries).filter((name) => name.endsWith('.json'))
assert.ok(files.length >= 14, `one of each event at least, not ${files.length}`)
for (const name of files) {
	assert.equal(typeof about(JSON.parse(readFileSync(join(deliveries, name), 'utf8')) as Event), 'string', name)
}
console.log(`ok: a TypeScript client by openapi-typescript reads, writes, is refused, and reads ${files.length} deliveries`)
