package dev.tonnage.client;

import dev.tonnage.client.internal.Frames;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An operation on a row. Several on one shard key are carried out together or not at all. */
public final class Write {
    private final Table table;
    private final Row row;
    private final boolean isDelete;
    private final Condition condition;

    private Write(Table table, Row row, boolean isDelete, Condition condition) {
        this.table = table;
        this.row = row;
        this.isDelete = isDelete;
        this.condition = condition;
    }

    /** Stores a row where a condition holds. */
    public static Write put(Table table, Row row, Condition condition) {
        return new Write(table, row, false, condition);
    }

    /** Deletes the row of a key where a condition holds. */
    public static Write delete(Table table, Row key, Condition condition) {
        return new Write(table, key, true, condition);
    }

    static WriteResult send(Wire wire, List<Write> operations, WriteOptions options) {
        Frames frames = new Frames();
        boolean isFirst = true;
        for (Write write : operations) {
            Map<String, Object> header = new LinkedHashMap<>();
            header.put(write.isDelete ? "delete" : "put", write.table.path());
            if (write.condition.word() != null) {
                header.put("if", write.condition.word());
            }
            if (isFirst) {
                // One write: its options stand in the first frame.
                header.putAll(options.words());
                isFirst = false;
            }
            frames.add(header, write.table.rowOfWrite(write.row, write.isDelete));
        }
        byte[] told = wire.act("tonnage.Write", frames.toBytes(), options.timeout());
        return WriteResult.of(new String(told, StandardCharsets.UTF_8));
    }
}
