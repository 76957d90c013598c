package dev.tonnage.kafka;

import dev.tonnage.client.BulkPutOptions;
import dev.tonnage.client.Condition;
import dev.tonnage.client.EntryStream;
import dev.tonnage.client.Row;
import dev.tonnage.client.Table;
import dev.tonnage.client.Tonnage;
import dev.tonnage.client.TonnageException;
import dev.tonnage.client.WriteOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/**
 * Puts records into tables.
 *
 * <p>1. Records become rows, and wait until there are enough of them or offsets are to be
 * committed.
 *
 * <p>2. One bulk put takes all of them, over all tables. So offsets are committed for rows alone
 * that are durable.
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
    /** Records on their way to the dead letter queue. */
    private static final int REPORTS_MAX = 10_000;

    private SinkSettings settings;
    private Tonnage store;
    private RecordMapper mapper;
    private ErrantRecordReporter refused;
    private final List<PendingRow> pending = new ArrayList<>();
    private long pendingBytes;
    /** Whether records of rows that wait may be put a second time. */
    private boolean mayComeAgain;
    private final List<Future<Void>> reports = new ArrayList<>();

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
        refused = context.errantRecordReporter();
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
        PendingRow row;
        try {
            row = mapper().map(record);
        } catch (DataException error) {
            refuse(record, error);
            return;
        }
        if (row.isDeletion()) {
            send();
            delete(row);
            return;
        }
        pending.add(row);
        pendingBytes += row.bytes();
        if (pending.size() >= settings.getInt(SinkSettings.BATCH_ROWS)
                || pendingBytes >= settings.getLong(SinkSettings.BATCH_BYTES)) {
            send();
        }
    }

    private void delete(PendingRow row) {
        try {
            row.table().delete(row.row(), Condition.ALWAYS,
                    new WriteOptions().durability(settings.durability()));
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
            try {
                store = Tonnage.connect(settings.getString(SinkSettings.URL), settings.options());
            } catch (IllegalArgumentException error) {
                throw new ConfigException(SinkSettings.URL, settings.getString(SinkSettings.URL),
                        error.getMessage());
            }
            mapper = new RecordMapper(store, settings);
        }
        return mapper;
    }

    /** Puts all rows that wait. */
    private void send() {
        if (pending.isEmpty()) {
            return;
        }
        BulkPutOptions options = new BulkPutOptions().onExisting(settings.onExisting())
                .durability(settings.durability())
                .timeout(Duration.ofMillis(settings.getLong(SinkSettings.TIMEOUT_MS)));
        if (settings.ttl() != null) {
            options.ttl(settings.ttl());
        }
        store.bulkPutEntries(new Tonnage.RowOf<PendingRow>() {
            @Override
            public Table tableOf(PendingRow entry) {
                return entry.table();
            }

            @Override
            public Row rowOf(PendingRow entry) {
                return entry.row();
            }
        }, List.of(new PendingStream(pending.iterator())), options);
        pending.clear();
        pendingBytes = 0;
        mayComeAgain = false;
    }

    /** The rows that wait, as a bulk put reads them. */
    private final class PendingStream implements EntryStream<PendingRow> {
        private final Iterator<PendingRow> rows;

        PendingStream(Iterator<PendingRow> rows) {
            this.rows = rows;
        }

        @Override
        public String name() {
            return "kafka";
        }

        @Override
        public PendingRow getNext() {
            return rows.hasNext() ? rows.next() : null;
        }

        @Override
        public void failed(RuntimeException reason, PendingRow entry) {
            refuse(entry.record(), reason);
        }
    }

    /** Gives a record to the dead letter queue. */
    private void refuse(SinkRecord record, RuntimeException reason) {
        if (refused == null) {
            throw new ConnectException(record.topic() + "-" + record.kafkaPartition() + ", offset "
                    + record.kafkaOffset() + ": " + reason.getMessage() + ". A dead letter queue "
                    + "(errors.tolerance = all) takes such records", reason);
        }
        boolean areMany;
        synchronized (reports) {
            reports.add(refused.report(record, reason));
            areMany = reports.size() >= REPORTS_MAX;
        }
        if (areMany) {
            awaitReports();
        }
    }

    @Override
    public void flush(Map<TopicPartition, OffsetAndMetadata> currentOffsets) {
        try {
            send();
        } catch (TonnageException error) {
            // Connect goes back to the offsets that are committed, but not where it takes
            // partitions away: so the rows of the others have to stay.
            mayComeAgain = true;
            throw failure(error);
        }
        awaitReports();
    }

    /** Offsets are committed once the dead letter queue has what it was given, too. */
    private void awaitReports() {
        List<Future<Void>> open;
        synchronized (reports) {
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

    /** What a task does about an error: ask again later, or stop. */
    private RuntimeException failure(TonnageException error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof ConnectException) {
                return (ConnectException) cause;
            }
        }
        switch (error.kind()) {
            case CONNECTION_LOST:
            case UNAVAILABLE:
            case EXHAUSTED:
            case TIMED_OUT:
                if (context != null) {
                    context.timeout(settings.getLong(SinkSettings.RETRY_MS));
                }
                return new RetriableException(error.getMessage(), error);
            default:
                return new ConnectException(error.getMessage(), error);
        }
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
        // Whoever has the partitions next begins at the offsets that are committed.
        Set<TopicPartition> gone = Set.copyOf(partitions);
        forget(row -> gone.contains(row.partition()));
    }

    @Override
    public void stop() {
        if (store != null) {
            store.close();
        }
    }
}
