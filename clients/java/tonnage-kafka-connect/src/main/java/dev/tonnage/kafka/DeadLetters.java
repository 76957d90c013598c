package dev.tonnage.kafka;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;

/**
 * Records on their way to the dead letter queue. A record goes there once, though several of its
 * rows may be refused, or its bulk put be carried out again. Threads may share it.
 */
final class DeadLetters {
    /** Records on their way at a time. */
    private static final int REPORTS_MAX = 10_000;
    /** Records that are known to be there. Beyond it one may go there twice. */
    private static final int TOLD_MAX = 1_000_000;

    private final ErrantRecordReporter queue;
    private final List<Future<Void>> reports = new ArrayList<>();
    private final Set<String> told = new HashSet<>();

    /** The queue may be null: then a record stops the task. */
    DeadLetters(ErrantRecordReporter queue) {
        this.queue = queue;
    }

    /**
     * Gives a record to the queue. Returns whether it was not there before.
     *
     * @throws ConnectException where there is no queue
     */
    boolean refuse(SinkRecord record, RuntimeException reason) {
        String place = record.topic() + "-" + record.kafkaPartition() + ", offset "
                + record.kafkaOffset();
        if (queue == null) {
            throw new ConnectException(place + ": " + reason.getMessage() + ". A dead letter "
                    + "queue (errors.tolerance = all) takes such records", reason);
        }
        boolean areMany;
        synchronized (this) {
            if (told.size() >= TOLD_MAX) {
                told.clear();
            }
            if (!told.add(PendingRow.partition(record) + "@" + record.originalKafkaOffset())) {
                return false;
            }
            reports.add(queue.report(record, reason));
            areMany = reports.size() >= REPORTS_MAX;
        }
        if (areMany) {
            await();
        }
        return true;
    }

    /** Waits until the queue has all that it was given. Their offsets may be committed then. */
    void settle() {
        await();
        synchronized (this) {
            told.clear();
        }
    }

    private void await() {
        List<Future<Void>> open;
        synchronized (this) {
            open = List.copyOf(reports);
            reports.clear();
        }
        for (Future<Void> report : open) {
            try {
                report.get();
            } catch (ExecutionException error) {
                throw new ConnectException("the dead letter queue takes no record",
                        error.getCause());
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw new ConnectException("interrupted", error);
            }
        }
    }
}
