package dev.tonnage.kafka;

import dev.tonnage.client.BulkPutReport;
import dev.tonnage.client.Condition;
import dev.tonnage.client.Tonnage;
import dev.tonnage.client.TonnageException;
import dev.tonnage.client.WriteOptions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/**
 * Puts records into tables.
 *
 * <p>1. Records become rows, and wait until there are enough of them, the first has waited long
 * enough, or offsets are to be committed.
 *
 * <p>2. One bulk put takes all of them, over all tables, while the next ones gather. Offsets are
 * committed once it has ended: for rows alone that are durable.
 *
 * <p>3. A record that makes no row, or whose row is refused, goes to the dead letter queue with the
 * reason. Without such a queue it stops the task.
 *
 * <p>4. A server that is not there is asked again: Connect pauses the topics meanwhile. Records
 * that come twice store the same rows by their keys.
 *
 * <p>5. A deletion waits for what came before it.
 */
public final class TonnageSinkTask extends SinkTask {
    private SinkSettings settings;
    private Tonnage store;
    private RecordMapper mapper;
    private DeadLetters deadLetters;
    private SinkMetrics metrics;
    private BatchPutter putter;
    private List<PendingRow> pending = new ArrayList<>();
    private volatile long pendingBytes;
    /** When the first of the rows that wait came. */
    private long firstNanos;
    /** Whether records of rows that wait may be put a second time. */
    private boolean mayComeAgain;

    /** One that is not started yet. */
    public TonnageSinkTask() {
    }

    @Override
    public String version() {
        return TonnageSinkConnector.VERSION;
    }

    @Override
    public void start(Map<String, String> props) {
        settings = new SinkSettings(props);
        settings.check();
        deadLetters = new DeadLetters(context.errantRecordReporter());
        metrics = new SinkMetrics(context.pluginMetrics(), () -> pendingBytes);
    }

    @Override
    public void put(Collection<SinkRecord> records) {
        if (mayComeAgain) {
            forgetWhatComesAgain(records);
        }
        try {
            for (SinkRecord record : records) {
                take(record);
            }
            sendWhatWaitedLongEnough();
        } catch (TonnageException error) {
            // All of these records come again, and perhaps earlier ones.
            mayComeAgain = true;
            throw failure(error);
        }
    }

    /** Of each partition, rows from the first offset on that is put now. */
    private void forgetWhatComesAgain(Collection<SinkRecord> records) {
        Map<TopicPartition, Long> firsts = new HashMap<>();
        records.forEach(record -> firsts.merge(PendingRow.partition(record),
                record.originalKafkaOffset(), Math::min));
        forget(row -> {
            Long first = firsts.get(row.partition());
            return first != null && row.record().originalKafkaOffset() >= first;
        });
    }

    private void take(SinkRecord record) {
        List<PendingRow> rows;
        try {
            rows = mapper().map(record);
        } catch (DataException error) {
            refuse(record, error);
            return;
        }
        for (PendingRow row : rows) {
            if (row.isDeletion()) {
                send();
                settle();
                delete(row);
                return;
            }
            if (pending.isEmpty()) {
                firstNanos = System.nanoTime();
            }
            pending.add(row);
            pendingBytes += row.bytes();
        }
        if (settings.isBatch(pending.size(), pendingBytes)) {
            send();
        }
    }

    private void delete(PendingRow row) {
        try {
            row.table().delete(row.row(), Condition.ALWAYS,
                    new WriteOptions().durability(settings.durability()));
            metrics.deleted.incrementAndGet();
        } catch (TonnageException error) {
            if (error.kind() != TonnageException.Kind.INVALID_REQUEST) {
                throw error;
            }
            // A key that fits no column: others are no worse for it.
            refuse(row.record(), error);
        }
    }

    /** Connects at first use, so that a server that is not there yet is asked again. */
    private RecordMapper mapper() {
        if (mapper == null) {
            store = settings.connect();
            mapper = new RecordMapper(store, settings);
            putter = new BatchPutter(store, settings,
                    (reason, row) -> refuse(row.record(), reason));
        }
        return mapper;
    }

    /** Puts rows that wait long enough; else asks Connect to come again when they do. */
    private void sendWhatWaitedLongEnough() {
        if (pending.isEmpty()) {
            return;
        }
        long waitedMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - firstNanos);
        long leftMs = settings.getLong(SinkSettings.LINGER_MS) - waitedMs;
        if (leftMs <= 0) {
            send();
        } else {
            context.timeout(leftMs);
        }
    }

    /** Begins to put all rows that wait, once those before them are stored. */
    private void send() {
        settle();
        if (!pending.isEmpty()) {
            putter.begin(pending);
            pending = new ArrayList<>();
            pendingBytes = 0;
            mayComeAgain = false;
        }
    }

    /** Waits for the bulk put that is under way. Where it fails, its rows wait again. */
    private void settle() {
        if (putter == null) {
            return;
        }
        try {
            BulkPutReport report = putter.await();
            if (report != null) {
                metrics.put(report);
            }
        } catch (TonnageException error) {
            List<PendingRow> rows = new ArrayList<>(putter.takeBack());
            rows.forEach(row -> pendingBytes += row.bytes());
            rows.addAll(pending);
            pending = rows;
            throw error;
        }
    }

    private void refuse(SinkRecord record, RuntimeException reason) {
        if (deadLetters.refuse(record, reason)) {
            metrics.refused.incrementAndGet();
        }
    }

    @Override
    public void flush(Map<TopicPartition, OffsetAndMetadata> currentOffsets) {
        try {
            send();
            settle();
        } catch (TonnageException error) {
            // Connect goes back to the offsets that are committed, but not where it takes
            // partitions away: so the rows of the others have to stay.
            mayComeAgain = true;
            throw failure(error);
        }
        deadLetters.settle();
    }

    /** What a task does about an error: ask again later, or stop. */
    private RuntimeException failure(TonnageException error) {
        ConnectException failure = TaskErrors.of(error);
        if (failure instanceof RetriableException) {
            metrics.retried.incrementAndGet();
            context.timeout(settings.getLong(SinkSettings.RETRY_MS));
        }
        return failure;
    }

    /** How many rows are not stored yet. */
    int waiting() {
        return pending.size();
    }

    private void forget(Predicate<PendingRow> which) {
        pending.removeIf(row -> {
            boolean goes = which.test(row);
            pendingBytes -= goes ? row.bytes() : 0;
            return goes;
        });
    }

    @Override
    public void close(Collection<TopicPartition> partitions) {
        try {
            settle();
        } catch (TonnageException error) {
            // What it did not store comes again.
            metrics.retried.incrementAndGet();
        }
        // Whoever has the partitions next begins at the offsets that are committed. Rows of theirs
        // that are under way would come behind those that are put there.
        Set<TopicPartition> gone = Set.copyOf(partitions);
        forget(row -> gone.contains(row.partition()));
    }

    @Override
    public void stop() {
        if (store != null) {
            putter.close();
            store.close();
        }
    }
}
