# SPDX-License-Identifier: MIT OR Apache-2.0
# shellcheck shell=bash
# gpu_result.sh, to be sourced: what the scripts that measure a card have in common. Needs a POSIX awk and, for
# clocks and the card's name, nvidia-smi; without it those parts stay empty.
#
#   gpu_clocks_begin FILE      samples clocks, power and temperature five times a second from here on …
#   gpu_clocks_end             … to here
#   gpu_result OUT.json CLOCKS NAME=TABLE.csv...
#
# gpu_result writes one JSON object: date, commit, host, device, clocks (of all samples of the file CLOCKS, and of those
# in which the card was at work), and each table as a list of objects named by its header line. A table's lines that
# begin with # become its notes. COMMIT tells the commit where the tree is no repository.

gpu_sampler=

gpu_clocks_begin() {
    command -v nvidia-smi >/dev/null || { : >"$1"; return 0; }
    nvidia-smi --query-gpu=timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu,utilization.gpu,clocks_event_reasons.active \
        --format=csv,noheader,nounits -lms 200 >"$1" 2>/dev/null &
    gpu_sampler=$!
}

gpu_clocks_end() {
    [ -n "$gpu_sampler" ] || return 0
    kill "$gpu_sampler" 2>/dev/null || true
    wait "$gpu_sampler" 2>/dev/null || true
    gpu_sampler=
}

# JSON text of standard input's first line
gpu_json_text() {
    head -n 1 | tr -d '\r\n' | sed 's/[\\"]/\\&/g; s/[[:cntrl:]]/ /g; s/^ *//; s/ *$//; s/.*/"&"/' | grep . || printf '""'
}

gpu_card() {
    nvidia-smi --id=0 --query-gpu=name,driver_version,memory.total,power.limit,compute_cap --format=csv,noheader,nounits 2>/dev/null |
        awk -F', *' '
            function text(s) { gsub(/[\\"]/, "\\\\&", s); return "\"" s "\"" }
            NR == 1 && NF == 5 {
                printf "\"name\": %s, \"driver\": %s, \"memory_mib\": %s, \"power_limit_w\": %s, \"compute_capability\": %s",
                    text($1), text($2), text($3), text($4), text($5)
            }'
}

gpu_commit() {
    { [ -n "${COMMIT:-}" ] && echo "$COMMIT"; } || git rev-parse HEAD 2>/dev/null || echo unknown
}

# A table of lines to JSON: numbers bare, other fields as text.
gpu_table() {
    awk -F, '
        function text(s) { gsub(/[\\"]/, "\\\\&", s); gsub(/[[:cntrl:]]/, " ", s); return "\"" s "\"" }
        function value(s) { return s ~ /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/ ? s : text(s) }
        /^#/ { notes = notes (notes == "" ? "" : ", ") text($0); next }
        NF == 0 { next }
        !n_names { n_names = split($0, names, ","); next }
        NF != n_names { notes = notes (notes == "" ? "" : ", ") text($0); next }
        {
            rows = rows (rows == "" ? "\n      {" : ",\n      {")
            for (i = 1; i <= NF; i++) rows = rows (i == 1 ? "" : ", ") text(names[i]) ": " value($i)
            rows = rows "}"
        }
        END { printf "{\"notes\": [%s],\n    \"rows\": [%s]}", notes, rows }' "$1"
}

# At work: from 50 % of utilization on. "reasons" is the driver's set of why the clock is not higher, as it prints it.
gpu_clocks() {
    awk -F', *' '
        NF < 7 || $2 !~ /^[0-9]/ { next }
        { n++ }
        $6 + 0 < 50 { next }
        {
            if (!busy || $2 + 0 < low) low = $2 + 0
            if ($2 + 0 > high) high = $2 + 0
            if ($4 + 0 > watt) watt = $4 + 0
            if ($5 + 0 > degrees) degrees = $5 + 0
            if (!($7 in seen)) { seen[$7] = 1; reasons = reasons (reasons == "" ? "" : ", ") "\"" $7 "\"" }
            busy++
        }
        END {
            printf "{\"samples\": %d, \"at_work\": %d", n, busy
            if (busy) printf ", \"sm_mhz_min\": %d, \"sm_mhz_max\": %d, \"power_w_max\": %.1f, \"temperature_c_max\": %d, \"reasons\": [%s]",
                low, high, watt, degrees, reasons
            printf "}"
        }' "$1"
}

gpu_result() {
    local out=$1 clocks=$2 table
    shift 2
    {
        printf '{\n  "date": "%s",\n  "commit": %s,\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(gpu_commit | gpu_json_text)"
        printf '  "host": {"processor": %s, "processors": %s, "memory_mib": %s, "kernel": %s},\n' \
            "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | gpu_json_text)" "$(getconf _NPROCESSORS_ONLN)" \
            "$(awk '/^MemTotal/ { printf "%d", $2 / 1024 }' /proc/meminfo)" "$(uname -r | gpu_json_text)"
        printf '  "device": {%s},\n' "$(gpu_card)"
        printf '  "clocks": %s,\n  "tables": {' "$(gpu_clocks "$clocks")"
        local separator=
        for table in "$@"; do
            [ -s "${table#*=}" ] || continue
            printf '%s\n    %s: %s' "$separator" "$(printf '%s' "${table%%=*}" | gpu_json_text)" "$(gpu_table "${table#*=}")"
            separator=,
        done
        printf '\n  }\n}\n'
    } >"$out"
}
