package dev.tonnage.client;

import dev.tonnage.client.internal.Frames;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An operation on a row. Several on one shard key are carried out together or not at all. */
public final class Write {
    private static final String DELETE = "delete";

    private final Table table;
    private final Row row;
    private final String verb;
    private final Condition condition;

    private Write(Table table, Row row, String verb, Condition condition) {
        this.table = table;
        this.row = row;
        this.verb = verb;
        this.condition = condition;
    }

    /** Stores a row where a condition holds. */
    public static Write put(Table table, Row row, Condition condition) {
        return new Write(table, row, "put", condition);
    }

    /** Deletes the row of a key where a condition holds. */
    public static Write delete(Table table, Row key, Condition condition) {
        return new Write(table, key, DELETE, condition);
    }

    /** Changes the columns of a row where a condition holds. It is sent alone. */
    static Write update(Table table, Row changes, Condition condition) {
        return new Write(table, changes, "update", condition);
    }

    static WriteResult send(Wire wire, List<Write> operations, WriteOptions options) {
        Frames frames = new Frames();
        boolean isFirst = true;
        for (Write write : operations) {
            Map<String, Object> header = new LinkedHashMap<>();
            header.put(write.verb, write.table.path());
            if (write.condition.word() != null) {
                header.put("if", write.condition.word());
            }
            if (isFirst) {
                // One write: its options stand in the first frame.
                header.putAll(options.words());
                isFirst = false;
            }
            frames.add(header, write.table.rowOfWrite(write.row, write.verb.equals(DELETE)));
        }
        byte[] told = wire.act("tonnage.Write", frames.toBytes(), options.timeout());
        return WriteResult.of(new String(told, StandardCharsets.UTF_8));
    }
}
