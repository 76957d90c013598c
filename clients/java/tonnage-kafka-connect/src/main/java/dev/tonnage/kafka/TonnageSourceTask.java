package dev.tonnage.kafka;

import dev.tonnage.client.Cancel;
import dev.tonnage.client.Tonnage;
import dev.tonnage.client.TonnageException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Makes records of rows that are new in tables, one table after the other. */
public final class TonnageSourceTask extends SourceTask {
    /** Connect wants to be asked whether to stop about so often. */
    private static final long WAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

    private final Cancel cancel = new Cancel();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final List<TableFollower> followers = new ArrayList<>();
    private SourceSettings settings;
    private Tonnage store;
    private AtomicLong told;
    private int turn;

    /** One that is not started yet. */
    public TonnageSourceTask() {
    }

    @Override
    public String version() {
        return TonnageSinkConnector.VERSION;
    }

    @Override
    public void start(Map<String, String> props) {
        settings = new SourceSettings(props);
        settings.check();
        told = new TaskMetrics(context.pluginMetrics()).total("rows-read-total",
                "Rows that became records.");
    }

    @Override
    public List<SourceRecord> poll() throws InterruptedException {
        try {
            connect();
            for (int tried = 0; tried < followers.size(); tried++) {
                TableFollower follower = followers.get(turn++ % followers.size());
                List<SourceRecord> records =
                        follower.next(settings.getInt(SourceSettings.BATCH_ROWS));
                if (!records.isEmpty()) {
                    told.addAndGet(records.size());
                    return records;
                }
            }
        } catch (TonnageException error) {
            ConnectException failure = TaskErrors.of(error);
            if (failure instanceof RetriableException) {
                stopped.await(settings.getLong(SourceSettings.RETRY_MS), TimeUnit.MILLISECONDS);
            }
            if (stopped.getCount() == 0) {
                return null;
            }
            throw failure;
        }
        long wait = followers.stream().mapToLong(TableFollower::waitNanos).min().orElse(0);
        stopped.await(Math.min(wait, WAIT_NANOS_MAX), TimeUnit.NANOSECONDS);
        return null;
    }

    /** Connects at first use, so that a server that is not there yet is asked again. */
    private void connect() {
        if (store != null) {
            return;
        }
        store = settings.connect();
        for (String table : settings.getList(SourceSettings.TABLES)) {
            Map<String, Object> offset =
                    context.offsetStorageReader().offset(Map.of(TableFollower.TABLE, table));
            followers.add(new TableFollower(store, table, settings, offset, cancel));
        }
    }

    @Override
    public void stop() {
        stopped.countDown();
        cancel.cancel();
        if (store != null) {
            store.close();
        }
    }
}
