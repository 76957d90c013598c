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
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
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
 * <p>1. Records become rows, and wait until there are enough of them or offsets are to be committed.
 *
 * <p>2. One bulk put takes all of them, over all tables. So offsets are committed for rows alone that
 * are durable.
 *
 * <p>3. A record that makes no row, or whose row is refused, goes to the dead letter queue with the
 * reason. Without such a queue it stops the task.
 *
 * <p>4. A server that is not there is asked again: Connect pauses the topics meanwhile. Records that
 * come twice store the same rows by their keys.
 *
 * <p>5. A deletion waits for what came before it.
 */
public final class TonnageSinkTask extends SinkTask {
    private SinkSettings settings;
    private Tonnage store;
    private RecordMapper mapper;
    private ErrantRecordReporter refused;
    private final List<PendingRow> pending = new ArrayList<>();
    private long pendingBytes;
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
        // What is put again because of an error comes again as a whole.
        int before = pending.size();
        long bytesBefore = pendingBytes;
        try {
            for (SinkRecord record : records) {
                take(record);
            }
        } catch (TonnageException error) {
            if (pending.size() >= before) {
                pending.subList(before, pending.size()).clear();
                pendingBytes = bytesBefore;
            }
            throw failure(error);
        }
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
            row.table().delete(row.row(), Condition.ALWAYS,
                    new WriteOptions().durability(settings.durability()));
            return;
        }
        pending.add(row);
        pendingBytes += row.bytes();
        if (pending.size() >= settings.getInt(SinkSettings.BATCH_ROWS)
                || pendingBytes >= settings.getLong(SinkSettings.BATCH_BYTES)) {
            send();
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
        synchronized (reports) {
            reports.add(refused.report(record, reason));
        }
    }

    @Override
    public void flush(Map<TopicPartition, OffsetAndMetadata> currentOffsets) {
        try {
            send();
        } catch (TonnageException error) {
            // Connect goes back to the offsets that are committed: all of this comes again.
            forget();
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
                throw new ConnectException("the dead letter queue takes no record", error.getCause());
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

    private void forget() {
        pending.clear();
        pendingBytes = 0;
    }

    @Override
    public void close(Collection<TopicPartition> partitions) {
        // Whoever has the partitions next begins at the offsets that are committed.
        forget();
    }

    @Override
    public void stop() {
        if (store != null) {
            store.close();
        }
    }
}
