package dev.tonnage.kafka;

import dev.tonnage.client.Cancel;
import dev.tonnage.client.Row;
import dev.tonnage.client.Rows;
import dev.tonnage.client.Table;
import dev.tonnage.client.Tonnage;
import dev.tonnage.client.arrow.ArrowField;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.source.SourceRecord;

/**
 * Tells what is new in a table.
 *
 * <p>1. The table is read through, again and again. The server leaves out rows whose versions it is
 * told, so that an idle table costs a scan there, and nothing here.
 *
 * <p>2. All versions that were read are known, as ranges. A row of a load can be read later than its
 * version was given, so what is above the greatest is not all that is new.
 *
 * <p>3. A version that is not seen `late` after greater ones were read never comes. All versions up
 * to those become one range then.
 *
 * <p>4. The last record of a reading has what is known then as its offset, the others what was known
 * before. So a reading that is cut off is begun anew, and its rows come twice.
 */
final class TableFollower implements AutoCloseable {
    static final String TABLE = "table";
    static final String KNOWN = "known";
    static final String VERSION = "tonnage.version";

    /** 64 MiB of ranges. */
    private static final int RANGES_MAX = 4 << 20;
    /** Ranges that the server is told. It sends the rows of others again, which are dropped here. */
    private static final int RANGES_SENT = 200;
    private static final int RANGES_STORED = 64;

    private final Tonnage store;
    private final String path;
    private final String topic;
    private final long pollNanos;
    private final long lateNanos;
    private final Cancel cancel;
    private final VersionSet known = new VersionSet(RANGES_MAX);
    private final Deque<Reading> ended = new ArrayDeque<>();
    private Map<String, String> offset;
    private Table table;
    private RowSchema keys;
    private RowSchema values;
    private Rows rows;
    private SourceRecord held;
    private long startNanos;
    private long dueNanos = System.nanoTime();

    /** When a reading ended, and the greatest version that was known then. */
    private record Reading(long endNanos, long lastVersion) {
    }

    /**
     * Goes on behind an offset; null begins with all rows.
     *
     * @throws ConnectException for an offset that is none
     */
    TableFollower(Tonnage store, String path, SourceSettings settings, Map<String, Object> from,
            Cancel cancel) {
        this.store = store;
        this.path = path;
        this.topic = settings.topic(path);
        this.pollNanos = settings.getLong(SourceSettings.POLL_MS) * 1_000_000;
        this.lateNanos = settings.getLong(SourceSettings.LATE_MS) * 1_000_000;
        this.cancel = cancel;
        // A store has no version 0.
        known.addRange(0, 0);
        if (from != null) {
            known.addText(textOf(from));
        }
        offset = offset();
    }

    /** What an offset says is known. */
    static String textOf(Map<String, ?> offset) {
        if (!(offset.get(KNOWN) instanceof String)) {
            throw new ConnectException("the offset " + offset + " has no `" + KNOWN
                    + "`: it is of another connector. Reset the offsets, or choose another name");
        }
        return (String) offset.get(KNOWN);
    }

    private Map<String, String> offset() {
        return Map.of(KNOWN, known.toText(RANGES_STORED));
    }

    /** How long until the table is read again; 0 where it is time, or a reading goes on. */
    long waitNanos() {
        return rows == null ? Math.max(0, dueNanos - System.nanoTime()) : 0;
    }

    /** Up to so many records; none where nothing is new, or it is not time yet. */
    List<SourceRecord> next(int most) {
        List<SourceRecord> records = new ArrayList<>();
        if (waitNanos() > 0) {
            return records;
        }
        try {
            if (rows == null) {
                begin();
            }
            while (records.size() < most) {
                if (!rows.hasNext()) {
                    end(records);
                    break;
                }
                Row row = rows.next();
                if (known.contains(row.version())) {
                    continue;
                }
                known.add(row.version());
                if (held != null) {
                    records.add(held);
                }
                held = record(row);
            }
        } catch (RuntimeException error) {
            close();
            throw error;
        }
        return records;
    }

    private void begin() {
        startNanos = System.nanoTime();
        Table now = store.table(path);
        if (table == null || !now.schema().equals(table.schema())) {
            List<ArrowField> columns = now.schema().fields();
            keys = new RowSchema(now.path() + ".key", now.schema().select(now.key()).fields());
            values = new RowSchema(now.path(), columns);
        }
        table = now;
        rows = now.scanUnknown(known.widest(RANGES_SENT), cancel);
    }

    private SourceRecord record(Row row) {
        ConnectHeaders headers = new ConnectHeaders();
        headers.addLong(VERSION, row.version());
        return new SourceRecord(Map.of(TABLE, path), offset, topic, null, keys.schema(),
                keys.of(row), values.schema(), values.of(row), null, headers);
    }

    private void end(List<SourceRecord> records) {
        close();
        long endNanos = System.nanoTime();
        while (!ended.isEmpty() && startNanos - ended.peek().endNanos() >= lateNanos) {
            known.addRange(0, ended.poll().lastVersion());
        }
        long last = known.last();
        if (ended.isEmpty() || ended.peekLast().lastVersion() < last) {
            ended.add(new Reading(endNanos, last));
        }
        offset = offset();
        if (held != null) {
            records.add(new SourceRecord(held.sourcePartition(), offset, held.topic(), null,
                    held.keySchema(), held.key(), held.valueSchema(), held.value(), null,
                    held.headers()));
            held = null;
        }
        // A large table is read half of the time at most.
        dueNanos = endNanos + Math.max(pollNanos, endNanos - startNanos);
    }

    @Override
    public void close() {
        if (rows != null) {
            rows.close();
            rows = null;
        }
    }
}
