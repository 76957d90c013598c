package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowSchema;
import dev.tonnage.client.arrow.ArrowWriter;
import dev.tonnage.client.arrow.BatchBuilder;
import dev.tonnage.client.internal.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The entries of a stream for one table, on one connection. The thread that reads the stream sends;
 * a thread of its own takes what the server tells.
 */
final class TableStream<E> implements AutoCloseable {
    private static final int BATCH_ROWS_MAX = 32_768;
    /** What an entry takes in memory beside its bytes, about. */
    private static final int ENTRY_BYTES = 128;

    private final StreamRun<E> run;
    private final Exchange exchange;
    private final ArrowWriter writer;
    private final BatchBuilder batch;
    private List<E> entries = new ArrayList<>();
    private long sent;
    private long messages;
    private final Deque<Chunk<E>> kept = new ArrayDeque<>();
    private final Thread reader;
    private volatile boolean isCompleted;
    private volatile TonnageException failure;

    /** Entries of a message of which nothing is known yet. */
    private static final class Chunk<E> {
        private final long id;
        private final long first;
        private final int count;
        private final List<E> entries;
        private final long bytes;

        Chunk(long id, long first, int count, List<E> entries, long bytes) {
            this.id = id;
            this.first = first;
            this.count = count;
            this.entries = entries;
            this.bytes = bytes;
        }
    }

    TableStream(StreamRun<E> run, String path, ArrowSchema schema) {
        this.run = run;
        this.batch = new BatchBuilder(schema);
        Map<String, Object> command =
                new LinkedHashMap<>(run.put().options().words(run.put().job()));
        if (path == null) {
            command.put("pairs", true);
        } else {
            command.put("table", path);
        }
        command.put("stream", run.name());
        exchange = new Exchange(run.put().wire(), Map.of("bulk_put", command), run.put().stop(),
                run.put().options().timeout());
        writer = new ArrowWriter(exchange.body());
        reader = new Thread(this::read, "tonnage-put-answers");
        reader.setDaemon(true);
        reader.start();
        send(() -> writer.schema(schema));
        exchange.keepAlive(run.put().wire(), writer);
    }

    private void send(Exchange.Sending message) {
        try {
            exchange.send(message);
        } catch (IOException error) {
            throw stopped(error);
        }
    }

    /** Why nothing more can be sent. The server's own words come first. */
    private TonnageException stopped(IOException error) {
        join();
        return failure == null ? exchange.lost(error) : failure;
    }

    void add(E entry) {
        run.put().target().append(batch, entry);
        if (run.put().options().tellsEntries()) {
            entries.add(entry);
        }
        // Each row is looked at: 64 large ones could take more than all memory that there is.
        boolean isFull = batch.rows() >= BATCH_ROWS_MAX
                || batch.bytes() >= run.put().options().requestBytesMax();
        if (isFull) {
            sendBatch();
        }
    }

    private void sendBatch() {
        int count = batch.rows();
        if (count == 0) {
            return;
        }
        boolean keeps = run.put().options().tellsEntries();
        long bytes = keeps ? batch.bytes() + (long) ENTRY_BYTES * count : 0;
        boolean flushes = run.keep(bytes);
        if (failure != null) {
            throw failure;
        }
        long id = ++messages;
        synchronized (kept) {
            kept.addLast(new Chunk<>(id, sent, count, entries, bytes));
        }
        entries = keeps ? new ArrayList<>(count) : entries;
        sent += count;
        run.sent(count);
        run.put().addRead(count);
        String words = "{\"id\":" + id + (flushes ? ",\"flush\":true}" : "}");
        send(() -> writer.batch(batch, words));
        batch.clear();
    }

    /** Asks the server to make everything durable that was sent. */
    void flush() {
        long id = messages;
        if (id > 0) {
            send(() -> writer.words("{\"id\":" + id + ",\"flush\":true}"));
        }
    }

    /** Sends what is left, and the end marker. */
    void finish() {
        sendBatch();
        send(() -> {
            writer.words("{\"end\":{\"rows\":" + sent + "}}");
            writer.end();
        });
        try {
            exchange.endBody();
        } catch (IOException error) {
            throw stopped(error);
        }
    }

    /** Waits until the server said that all is stored. */
    void await() {
        join();
        if (failure != null) {
            throw failure;
        }
        if (!isCompleted) {
            throw new TonnageException(TonnageException.Kind.CONNECTION_LOST,
                    "the answer ended before the stream was completed");
        }
    }

    private void join() {
        try {
            reader.join();
        } catch (InterruptedException error) {
            exchange.close();
            throw new TonnageException(TonnageException.Kind.CANCELLED, "interrupted", error);
        }
    }

    /** Takes what the server tells, until it has told everything. */
    private void read() {
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(exchange.answer(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                take(Json.parseObject(line));
            }
            if (!isCompleted && failure == null) {
                failure = new TonnageException(TonnageException.Kind.CONNECTION_LOST,
                        "the connection was lost before the stream was completed");
            }
        } catch (IOException error) {
            failure = failure == null ? exchange.lost(error) : failure;
        } catch (TonnageException error) {
            failure = failure == null ? error : failure;
        } catch (Throwable error) {
            // What a stream throws stops the bulk put, an `Error` too: nobody waits for it in vain.
            failure = BulkPut.streamFailed(error);
        } finally {
            if (failure != null) {
                run.put().fail(failure);
                exchange.close();
            }
            run.stopWaiting();
        }
    }

    private void take(Map<String, Object> told) {
        for (Map.Entry<String, Object> message : told.entrySet()) {
            switch (message.getKey()) {
                case "existing":
                    takeExisting(Json.object(message.getValue()));
                    break;
                case "failed":
                    takeFailed(Json.list(message.getValue()));
                    break;
                case "ack":
                    acknowledge(Json.whole(message.getValue()));
                    break;
                case "completed":
                    acknowledge(Long.MAX_VALUE);
                    run.counted(Json.object(Json.object(message.getValue()).get("counts")));
                    isCompleted = true;
                    break;
                case "stopped":
                    Map<String, Object> stopped = Json.object(message.getValue());
                    run.counted(Json.object(stopped.get("counts")));
                    failure = Wire.error(stopped);
                    break;
                case "error":
                    TonnageException error = Wire.error(Json.object(message.getValue()));
                    failure = failure == null ? error : failure;
                    break;
                default:
                    // Progress, and what later servers may tell.
                    break;
            }
        }
    }

    private void takeExisting(Map<String, Object> existing) {
        if (!run.put().options().tellsEntries()) {
            return;
        }
        for (Object position : Json.list(existing.get("positions"))) {
            run.existing(entryAt(Json.whole(position)));
        }
    }

    private void takeFailed(List<Object> failures) {
        run.put().addFailed(failures.size(), true);
        if (!run.put().options().tellsEntries()) {
            return;
        }
        for (Object item : failures) {
            Map<String, Object> told = Json.object(item);
            String column = Json.text(told.get("column"));
            EntryException reason = new EntryException(column, Json.text(told.get("reason")));
            run.failed(reason, entryAt(Json.whole(told.get("position"))));
        }
    }

    private E entryAt(long position) {
        synchronized (kept) {
            for (Chunk<E> chunk : kept) {
                if (position >= chunk.first && position < chunk.first + chunk.count) {
                    return chunk.entries.get((int) (position - chunk.first));
                }
            }
        }
        throw new TonnageException(TonnageException.Kind.INTERNAL_ERROR,
                "the server tells of entry " + position
                + ", which was not sent or is acknowledged");
    }

    private void acknowledge(long id) {
        long bytes = 0;
        long count = 0;
        synchronized (kept) {
            while (!kept.isEmpty() && kept.peekFirst().id <= id) {
                Chunk<E> chunk = kept.pollFirst();
                bytes += chunk.bytes;
                count += chunk.count;
            }
        }
        run.release(bytes, count);
    }

    @Override
    public void close() {
        exchange.close();
    }
}
