# report.awk prints the results of run in a table in Markdown, and whether each target of targets.txt is met.

FNR == NR && (NF != 6 || /^#/) { next }

FNR == NR { targets[$1, $2, 1] = $4; targets[$1, $2, 2] = $5; mean[group($1), $2] = $3 == "mean"; floor[$1] = $6; next }

$1 == "release:" { if (!($2 in column)) { column[$2] = ++releases; title[releases] = $2 } release = column[$2] }

$1 ~ /^Benchmark/ && NF > 2 {
	sub(/^Benchmark/, "", $1); sub(/-[0-9]+$/, "", $1)
	for (i = 3; i < NF; i += 2) {
		unit = $(i + 1)
		if (unit ~ /^(B|allocs)\/op$/) continue # benchstat prints them
		if (!count[$1, unit]++) { names[++rows] = $1; units[rows] = unit }
		if (!seen[$1, unit, release]++ || $i < least[$1, unit, release]) least[$1, unit, release] = $i
		sum[$1, unit, release] += $i
	}
}

END {
	printf "| benchmark | contender | %s | ratio | %s | ratio |\n|---|---|--:|--:|--:|--:|\n", title[1], title[2]
	for (row = 1; row <= rows; row++) {
		impl = names[row]; sub(/.*impl=/, "", impl)
		print "| " group(names[row]) " | " impl " |" cells(names[row], units[row], 1) cells(names[row], units[row], 2)
	}
	printf "\n%d of %d targets are met.\n\n```\n%s```\n\n", held, held + missed, list
}

function group(name) { sub(/\/impl=.*/, "", name); return name }

function value(name, unit, r) { return mean[group(name), unit] && seen[name, unit, r] ? sum[name, unit, r] / seen[name, unit, r] : least[name, unit, r] }

function cells(name, unit, r, number, ours, ratio, least) {
	number = value(name, unit, r); ours = value(group(name) "/impl=sdk", unit, r)
	least = value(group(name) "/impl=" floor[name], unit, r)
	subject = title[r] " " name " " unit; bound = least && least < ours ? sprintf(", at most %.2f", number / least) : ""
	if (name !~ /impl=sdk$/ && ours) ratio = judge(sprintf("%.2f", number / ours), number / ours, targets[name, unit, r], ">=")
	return " " judge(human(number, unit), number, targets[name, unit, r], "<=", unit) " | " ratio " |"
}

# judge adds the target to a text and the target to the list: >= for ratios, <= for results of the SDK.
function judge(text, number, target, relation, unit, limit, met) {
	if (substr(target, 1, 2) != relation || number == "") return text
	limit = substr(target, 3) + 0
	text = text ", " (relation == ">=" ? "≥ " limit : "≤ " human(limit, unit))
	met = relation == ">=" ? number >= limit : number <= limit
	met ? held++ : missed++
	list = list sprintf("%-6s %s: %s%s\n", met ? "met" : "MISSED", subject, text, bound)
	return met ? text : "**" text ": missed**"
}

function human(number, unit) {
	if (number == "" || unit !~ /ns\/op$/) return number == "" ? "" : sprintf("%.1f %s", number, unit)
	if (number >= 1e6) return sprintf("%.1f ms%s", number / 1e6, unit ~ /^cpu/ ? " of CPU" : "")
	return number >= 1e3 ? sprintf("%.2f µs", number / 1e3) : sprintf("%.0f ns", number)
}
