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
 * <p>3. What was sent is kept until the server says what became of it. Its memory is bounded: at the
 * half of it the server is asked to flush, and nothing is sent once all of it is taken.
 *
 * <p>4. A stream is completed once the server said so for each of its tables. What ends a stream
 * early ends the others, too.
 */
final class BulkPut<E> {
    private final Wire wire;
    private final EntryTarget<E> target;
    private final BulkPutOptions options;
    private final String job = "java-" + UUID.randomUUID();
    private final Cancel stop = new Cancel();
    private RuntimeException failure;

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
        synchronized (this) {
            if (failure != null) {
                return;
            }
            failure = reason;
        }
        stop.cancel();
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
        RuntimeException failed = failure();
        if (failed instanceof TonnageException) {
            throw new BulkPutException((TonnageException) failed, report);
        }
        if (failed != null) {
            throw new BulkPutException(new TonnageException(TonnageException.Kind.CANCELLED,
                    "a stream failed: " + Wire.reason(failed), failed), report);
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
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException error) {
                    // The threads end at once; then the caller hears of the interruption.
                    fail(new TonnageException(TonnageException.Kind.CANCELLED, "interrupted", error));
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
