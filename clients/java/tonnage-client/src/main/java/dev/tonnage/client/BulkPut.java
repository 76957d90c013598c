package dev.tonnage.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;

/**
 * A bulk put.
 *
 * <p>1. As many threads as streams are read at a time take one stream after the other.
 *
 * <p>2. A stream has a connection for each of its tables. All connections share one load of the
 * server, by the name of its job.
 *
 * <p>3. What was sent is kept until the server says what became of it. Its memory is bounded: at
 * the half of it the server is asked to flush, and nothing is sent once all of it is taken.
 *
 * <p>4. A stream is completed once the server said so for each of its tables. What ends a stream
 * early ends the others, too.
 */
final class BulkPut<E> {
    /** How long streams may take to end once the bulk put is stopped. */
    private static final long STOP_MS = 5_000;
    private static final long STEP_MS = 50;

    private final Wire wire;
    private final EntryTarget<E> target;
    private final BulkPutOptions options;
    private final String job = "java-" + UUID.randomUUID();
    private final Cancel stop = new Cancel();
    private final List<Thread> readers = new ArrayList<>();
    private RuntimeException failure;
    private long failed;
    private long read;

    BulkPut(Wire wire, EntryTarget<E> target, BulkPutOptions options) {
        this.wire = wire;
        this.target = target;
        this.options = options;
    }

    Wire wire() {
        return wire;
    }

    EntryTarget<E> target() {
        return target;
    }

    BulkPutOptions options() {
        return options;
    }

    String job() {
        return job;
    }

    /** Ends all connections once the bulk put is stopped. */
    Cancel stop() {
        return stop;
    }

    /** Stops the bulk put. What is told first is what stopped it. */
    void fail(RuntimeException reason) {
        List<Thread> reading;
        synchronized (this) {
            if (failure != null) {
                return;
            }
            failure = reason;
            reading = List.copyOf(readers);
        }
        stop.cancel();
        // A stream may wait for its source, which nothing else would end.
        reading.stream().filter(reader -> reader != Thread.currentThread())
                .forEach(Thread::interrupt);
    }

    /** What stops a bulk put where a stream throws. */
    static TonnageException streamFailed(Throwable error) {
        return new TonnageException(TonnageException.Kind.CANCELLED,
                "a stream failed: " + Wire.reason(error), error);
    }

    /** Counts entries that were sent. */
    synchronized void addRead(long entries) {
        read += entries;
    }

    /** Counts entries that failed here or at the server, and stops where they are too many. */
    void addFailed(long entries, boolean isSent) {
        synchronized (this) {
            failed += entries;
            read += isSent ? 0 : entries;
        }
        judge(failed(), read(), false);
    }

    private void judge(long failed, long read, boolean isAtEnd) {
        if (options.isExceeded(failed, read, isAtEnd)) {
            fail(new TonnageException(TonnageException.Kind.TOO_MANY_ERRORS, 0, "too-many-errors",
                    null, failed + " entries failed, and errorsMax allows " + options.errorsMax(),
                    null));
        }
    }

    private synchronized long failed() {
        return failed;
    }

    private synchronized long read() {
        return read;
    }

    private synchronized RuntimeException failure() {
        return failure;
    }

    BulkPutReport run(List<? extends EntryStream<E>> streams) {
        long started = System.nanoTime();
        List<StreamRun<E>> runs = new ArrayList<>();
        int parallel = Math.max(1, Math.min(options.streamParallelism(), streams.size()));
        for (EntryStream<E> stream : streams) {
            runs.add(new StreamRun<>(this, stream, options.memoryBytesMax() / parallel));
        }
        Runnable onCancel = () -> fail(new TonnageException(TonnageException.Kind.CANCELLED,
                "the bulk put was cancelled"));
        if (options.cancel() != null) {
            options.cancel().onCancel(onCancel);
        }
        readAll(runs, parallel);
        if (options.cancel() != null) {
            options.cancel().forget(onCancel);
        }
        List<StreamReport> reports = new ArrayList<>();
        runs.forEach(run -> reports.add(run.report()));
        BulkPutReport report = new BulkPutReport(reports, (System.nanoTime() - started) / 1e9);
        // The server counts those too that it does not tell one by one.
        judge(report.failed(), read(), true);
        RuntimeException failed = failure();
        if (failed instanceof TonnageException) {
            throw new BulkPutException((TonnageException) failed, report);
        }
        if (failed != null) {
            throw new BulkPutException(streamFailed(failed), report);
        }
        return report;
    }

    private void readAll(List<StreamRun<E>> runs, int parallel) {
        Queue<StreamRun<E>> left = new ArrayDeque<>(runs);
        List<Thread> threads = new ArrayList<>();
        for (int count = 0; count < parallel; count++) {
            Thread thread = new Thread(() -> {
                for (StreamRun<E> run = next(left); run != null; run = next(left)) {
                    run.run();
                }
            }, "tonnage-put-" + count);
            thread.setDaemon(true);
            threads.add(thread);
        }
        synchronized (this) {
            readers.addAll(threads);
        }
        threads.forEach(Thread::start);
        // A source that hears no interruption is left to itself after a while.
        long patience = Long.MAX_VALUE;
        for (Thread thread : threads) {
            while (thread.isAlive() && patience > 0) {
                try {
                    thread.join(STEP_MS);
                    patience = failure() == null ? Long.MAX_VALUE
                            : Math.min(patience, STOP_MS) - STEP_MS;
                } catch (InterruptedException error) {
                    // The threads end at once; then the caller hears of the interruption.
                    fail(new TonnageException(TonnageException.Kind.CANCELLED, "interrupted",
                            error));
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }

    private StreamRun<E> next(Queue<StreamRun<E>> left) {
        if (failure() != null) {
            return null;
        }
        synchronized (left) {
            return left.poll();
        }
    }
}
