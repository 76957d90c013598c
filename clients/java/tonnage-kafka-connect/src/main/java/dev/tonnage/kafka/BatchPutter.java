package dev.tonnage.kafka;

import dev.tonnage.client.BulkPutOptions;
import dev.tonnage.client.BulkPutReport;
import dev.tonnage.client.Cancel;
import dev.tonnage.client.EntryStream;
import dev.tonnage.client.Row;
import dev.tonnage.client.Table;
import dev.tonnage.client.Tonnage;
import dev.tonnage.client.TonnageException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import org.apache.kafka.connect.errors.ConnectException;

/** Puts one batch of rows at a time, on a thread of its own, while the task makes the next one. */
final class BatchPutter implements AutoCloseable {
    private final Tonnage store;
    private final SinkSettings settings;
    private final BiConsumer<RuntimeException, PendingRow> refused;
    private final Cancel cancel = new Cancel();
    private final ExecutorService thread;
    private List<PendingRow> batch = List.of();
    private Future<BulkPutReport> running;

    /** Tells `refused` of each row that the server does not take, on any thread. */
    BatchPutter(Tonnage store, SinkSettings settings,
            BiConsumer<RuntimeException, PendingRow> refused) {
        this.store = store;
        this.settings = settings;
        this.refused = refused;
        thread = Executors.newSingleThreadExecutor(work -> {
            Thread made = new Thread(work, "tonnage-sink-put");
            made.setDaemon(true);
            return made;
        });
    }

    /** Begins to put rows. The batch before has ended. */
    void begin(List<PendingRow> rows) {
        batch = rows;
        running = thread.submit(() -> put(rows));
    }

    private BulkPutReport put(List<PendingRow> rows) {
        BulkPutOptions options = new BulkPutOptions().onExisting(settings.onExisting())
                .durability(settings.durability()).cancel(cancel)
                .timeout(Duration.ofMillis(settings.getLong(SinkSettings.TIMEOUT_MS)));
        if (settings.ttl() != null) {
            options.ttl(settings.ttl());
        }
        return store.bulkPutEntries(new Tonnage.RowOf<PendingRow>() {
            @Override
            public Table tableOf(PendingRow entry) {
                return entry.table();
            }

            @Override
            public Row rowOf(PendingRow entry) {
                return entry.row();
            }
        }, List.of(new RowStream(rows.iterator())), options);
    }

    /**
     * Waits for the batch that is under way. Returns what became of it; null without one.
     *
     * @throws TonnageException what stopped it: its rows are those of {@link #takeBack}
     */
    BulkPutReport await() {
        if (running == null) {
            return null;
        }
        try {
            BulkPutReport report = running.get();
            batch = List.of();
            return report;
        } catch (ExecutionException error) {
            if (error.getCause() instanceof RuntimeException) {
                throw (RuntimeException) error.getCause();
            }
            throw new ConnectException(error.getCause());
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            cancel.cancel();
            throw new ConnectException("interrupted", error);
        } finally {
            running = null;
        }
    }

    /** The rows of a batch that was stopped; some of them may be stored. */
    List<PendingRow> takeBack() {
        List<PendingRow> rows = batch;
        batch = List.of();
        return rows;
    }

    /** The rows of a batch, as a bulk put reads them. */
    private final class RowStream implements EntryStream<PendingRow> {
        private final Iterator<PendingRow> rows;

        RowStream(Iterator<PendingRow> rows) {
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
            refused.accept(reason, entry);
        }
    }

    @Override
    public void close() {
        cancel.cancel();
        thread.shutdown();
    }
}
