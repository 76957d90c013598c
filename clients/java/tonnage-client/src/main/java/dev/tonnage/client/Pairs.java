package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowBatch;
import dev.tonnage.client.arrow.ArrowColumn;
import dev.tonnage.client.arrow.ArrowField;
import dev.tonnage.client.arrow.ArrowSchema;
import dev.tonnage.client.arrow.ArrowType;
import dev.tonnage.client.arrow.BatchBuilder;
import dev.tonnage.client.internal.Frames;
import dev.tonnage.client.internal.Json;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;

/** The key/value pairs of a store. Threads may share it. */
public final class Pairs {
    private static final ArrowField ITEM = ArrowField.of("item", ArrowType.BINARY, true);
    /** Keys go as lists of components. */
    static final ArrowSchema KEYS = ArrowSchema.of(ArrowField.listOf("major", ITEM, false),
            ArrowField.listOf("minor", ITEM, false));
    static final ArrowSchema PAIRS = ArrowSchema.of(ArrowField.listOf("major", ITEM, false),
            ArrowField.listOf("minor", ITEM, false),
            ArrowField.of("value", ArrowType.BINARY, false));

    private final Wire wire;

    Pairs(Wire wire) {
        this.wire = wire;
    }

    private static BatchBuilder keyBatch(Key key) {
        BatchBuilder batch = new BatchBuilder(KEYS);
        batch.addPair(key.majorBytes(), key.minorBytes(), null);
        return batch;
    }

    /** Reads a pair, with its version; null where there is none. */
    public Pair get(Key key) {
        return get(key, null);
    }

    /** As {@link #get(Key)}; the longest that the call may take may be null. */
    public Pair get(Key key, Duration timeout) {
        byte[] frame = new Frames().add(Map.of(), keyBatch(key)).toBytes();
        List<Frames.Frame> found = Frames.read(wire.act("tonnage.GetPair", frame, timeout));
        if (found.isEmpty()) {
            return null;
        }
        Map<String, Object> stamps = Json.parseObject(found.get(0).header());
        byte[] value = found.get(0).batches().get(0).column(0).getBytes(0);
        return new Pair(key, value, Json.whole(stamps.get("version")),
                Json.whole(stamps.get("expires_at_ms")));
    }

    /** Stores a pair, and returns its version. */
    public long put(Key key, byte[] value) {
        return put(key, value, Condition.ALWAYS, new WriteOptions()).version();
    }

    /** Stores a pair where a condition holds. */
    public WriteResult put(Key key, byte[] value, Condition condition, WriteOptions options) {
        BatchBuilder batch = new BatchBuilder(PAIRS);
        batch.addPair(key.majorBytes(), key.minorBytes(), value);
        return write("put_pair", batch, condition, options);
    }

    /** Deletes a pair. Returns whether there was one. */
    public boolean delete(Key key) {
        return delete(key, Condition.ALWAYS, new WriteOptions()).isStored();
    }

    /** Deletes a pair where a condition holds. */
    public WriteResult delete(Key key, Condition condition, WriteOptions options) {
        return write("delete_pair", keyBatch(key), condition, options);
    }

    private WriteResult write(String verb, BatchBuilder batch, Condition condition,
            WriteOptions options) {
        Map<String, Object> header = new LinkedHashMap<>();
        header.put(verb, true);
        if (condition.word() != null) {
            header.put("if", condition.word());
        }
        header.putAll(options.words());
        byte[] frame = new Frames().add(header, batch).toBytes();
        byte[] told = wire.act("tonnage.Write", frame, options.timeout());
        return WriteResult.of(new String(told, StandardCharsets.UTF_8));
    }

    /** Deletes the pairs at and below a key. The range may be null. Returns how many there were. */
    public long deleteAll(Key key, Depth depth, KeyRange range, WriteOptions options) {
        Map<String, Object> header = new LinkedHashMap<>();
        header.put("depth", depth.word());
        if (range != null) {
            header.put("components", range.words());
        }
        if (options.durability() != null) {
            header.put("durability", options.durability().word());
        }
        byte[] frame = new Frames().add(header, keyBatch(key)).toBytes();
        byte[] told = wire.act("tonnage.DeletePairs", frame, options.timeout());
        String text = new String(told, StandardCharsets.UTF_8);
        return Json.whole(Json.parseObject(text).get("deleted"));
    }

    /**
     * Reads the pairs at and below one key with a whole major path, in the order of their keys, all
     * in memory. It takes one request over a connection that is kept; for many keys use a bulk get.
     */
    public List<Pair> family(Key key) {
        return family(key, null);
    }

    /** As {@link #family(Key)}; the longest that the call may take may be null. */
    public List<Pair> family(Key key, Duration timeout) {
        // `/-` ends the major path: without it, longer ones would be meant, too.
        String under = key.minorBytes().isEmpty() ? key + "/-" : key.toString();
        String told = wire.sendText(wire.request("GET", "/v1/pairs?under=" + Wire.encoded(under),
                null, null, timeout).build());
        List<Pair> pairs = new ArrayList<>();
        for (String line : told.split("\n")) {
            if (!line.isEmpty()) {
                pairs.add(pairOf(Json.parseObject(line)));
            }
        }
        return pairs;
    }

    private static Pair pairOf(Map<String, Object> told) {
        String text = Json.text(told.get("value"));
        byte[] value = text != null ? text.getBytes(StandardCharsets.UTF_8)
                : Base64.getDecoder().decode(String.valueOf(told.get("base64")));
        return new Pair(Key.parse(String.valueOf(told.get("key"))), value,
                Json.whole(told.get("version")), Json.whole(told.get("expires_at_ms")));
    }

    /** Reads the pairs of many keys, and those below them where a depth says so: close them. */
    public Found bulkGet(Iterable<Key> keys, BulkGetOptions options) {
        return bulkGet(List.of(keys.iterator()), options);
    }

    /** Reads the pairs of the keys of several sources, which one thread reads in turn. */
    public Found bulkGet(List<? extends Iterator<Key>> keys, BulkGetOptions options) {
        Map<String, Object> command = new LinkedHashMap<>(options.words());
        command.put("pairs", true);
        Rows rows = KeySender.start(wire, command, options, KEYS, List.copyOf(keys),
                (BatchBuilder batch, Key key) ->
                        batch.addPair(key.majorBytes(), key.minorBytes(), null));
        return new Found(rows);
    }

    /** All pairs, in an order: close them. */
    public Found scan(Direction direction, boolean keysOnly) {
        Map<String, Object> command = new LinkedHashMap<>();
        command.put("pairs", true);
        command.put("direction", direction.word());
        command.put("keys_only", keysOnly);
        command.put("versions", true);
        return new Found(Table.scan(wire, command, null));
    }

    /** Opens a large object; null where there is none. */
    public LargeObject getLarge(Key key) {
        return LargeObject.open(wire, key);
    }

    /**
     * Stores a large object of any size. It is there once all of its bytes are, all at once.
     *
     * @return its version
     */
    public long putLarge(Key key, InputStream bytes, Condition condition, WriteOptions options) {
        return LargeObject.put(wire, key, bytes, condition, options);
    }

    /** Deletes a large object. Returns whether there was one. */
    public boolean deleteLarge(Key key) {
        byte[] body = Json.write(Map.of("key", key.toString())).getBytes(StandardCharsets.UTF_8);
        byte[] told = wire.act("tonnage.DeleteLob", body, null);
        String text = new String(told, StandardCharsets.UTF_8);
        return Boolean.TRUE.equals(Json.parseObject(text).get("deleted"));
    }

    /** Pairs as they come. Close them when you stop before the last one. */
    public static final class Found implements Iterator<Pair>, Iterable<Pair>, AutoCloseable {
        private final Rows rows;
        private ArrowBatch batch;
        private int next;

        Found(Rows rows) {
            this.rows = rows;
        }

        /**
         * Whether there is another pair.
         *
         * @throws TonnageException what ended the pairs early
         */
        @Override
        public boolean hasNext() {
            while (batch == null || next >= batch.rows()) {
                batch = rows.nextBatch();
                next = 0;
                if (batch == null) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public Pair next() {
            if (!hasNext()) {
                throw new NoSuchElementException("there are no more pairs");
            }
            int row = next++;
            Key key = Key.ofBytes(components(batch.column(0), row),
                    components(batch.column(1), row));
            ArrowColumn version = batch.column("_version");
            ArrowColumn expiry = batch.column("_expires_at_ms");
            return new Pair(key, batch.column("value").getBytes(row),
                    version == null ? 0 : version.getLong(row),
                    expiry == null ? 0 : expiry.getLong(row));
        }

        private static List<byte[]> components(ArrowColumn list, int row) {
            ArrowColumn items = list.children().get(0);
            List<byte[]> components = new ArrayList<>();
            for (int item = list.listStart(row); item < list.listEnd(row); item++) {
                components.add(items.getBytes(item));
            }
            return components;
        }

        /** Itself: pairs can be read once. */
        @Override
        public Iterator<Pair> iterator() {
            return this;
        }

        @Override
        public void close() {
            rows.close();
        }
    }
}
