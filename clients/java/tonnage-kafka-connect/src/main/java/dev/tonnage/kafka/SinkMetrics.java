package dev.tonnage.kafka;

import dev.tonnage.client.BulkPutReport;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.kafka.common.metrics.PluginMetrics;

/** What a sink counts. */
final class SinkMetrics {
    final AtomicLong deleted;
    final AtomicLong refused;
    final AtomicLong retried;
    private final AtomicLong inserted;
    private final AtomicLong existed;
    private final AtomicLong puts;
    private volatile long lastPutMs;

    SinkMetrics(PluginMetrics worker, LongSupplier waitingBytes) {
        TaskMetrics metrics = new TaskMetrics(worker);
        inserted = metrics.total("rows-inserted-total", "Rows that were stored.");
        existed = metrics.total("rows-existed-total",
                "Rows whose keys were stored already: kept or replaced, as insert.mode says.");
        deleted = metrics.total("rows-deleted-total", "Rows that records without a value deleted.");
        refused = metrics.total("records-refused-total",
                "Records that went to the dead letter queue.");
        puts = metrics.total("bulk-puts-total", "Bulk puts that ended well.");
        retried = metrics.total("retries-total",
                "Times that the server was not there for records.");
        metrics.tell("last-bulk-put-ms", "How long the last bulk put took, in milliseconds.",
                () -> lastPutMs);
        metrics.tell("waiting-bytes", "About the bytes of rows that are not put yet.",
                waitingBytes);
    }

    void put(BulkPutReport report) {
        inserted.addAndGet(report.inserted());
        existed.addAndGet(report.existed());
        puts.incrementAndGet();
        lastPutMs = Math.round(report.seconds() * 1000);
    }
}
