package dev.tonnage.kafka;

import dev.tonnage.client.Row;
import dev.tonnage.client.Table;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.sink.SinkRecord;

/** A row that is not stored yet, or the key of one to delete, with the record that it came from. */
record PendingRow(SinkRecord record, Table table, Row row, boolean isDeletion) {
    /** What a row takes beside its values, with its record. */
    private static final long ROW_BYTES = 256;

    /** Where a record came from, whatever transformations made of its topic. */
    static TopicPartition partition(SinkRecord record) {
        return new TopicPartition(record.originalTopic(), record.originalKafkaPartition());
    }

    TopicPartition partition() {
        return partition(record);
    }

    /** About its bytes in memory, the record's own included. */
    long bytes() {
        long bytes = ROW_BYTES;
        for (int index = 0; index < row.size(); index++) {
            bytes += 2 * (48 + row.name(index).length() + ColumnValues.bytes(row.get(index)));
        }
        return bytes;
    }
}
