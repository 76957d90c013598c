package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads one stream of a bulk put, and sends its entries to their tables. */
final class StreamRun<E> {
    private final BulkPut<E> put;
    private final EntryStream<E> stream;
    private final StreamReport report;
    private final long keptBytesMax;
    private final Map<String, TableStream<E>> tables = new LinkedHashMap<>();
    /** The bytes of entries of which nothing is known yet. */
    private long keptBytes;
    /** Whether the server is asked to flush, and has not done so yet. */
    private boolean isFlushAsked;
    private boolean isStopped;

    StreamRun(BulkPut<E> put, EntryStream<E> stream, long keptBytesMax) {
        this.put = put;
        this.stream = stream;
        this.keptBytesMax = keptBytesMax;
        this.report = new StreamReport(stream.name());
    }

    BulkPut<E> put() {
        return put;
    }

    String name() {
        return report.name();
    }

    StreamReport report() {
        synchronized (this) {
            return report;
        }
    }

    /** Reads the stream to its end. */
    void run() {
        try {
            for (E entry = stream.getNext(); entry != null; entry = stream.getNext()) {
                take(entry);
            }
            for (TableStream<E> table : tables.values()) {
                table.finish();
            }
            for (TableStream<E> table : tables.values()) {
                table.await();
            }
            synchronized (this) {
                report.complete();
                stream.completed();
            }
        } catch (RuntimeException error) {
            put.fail(error);
        } catch (Throwable error) {
            // The caller hears of an `Error` of a stream; its thread would end without a word.
            put.fail(BulkPut.streamFailed(error));
        } finally {
            tables.values().forEach(TableStream::close);
        }
    }

    private void take(E entry) {
        String path = put.target().tableOf(entry);
        TableStream<E> table = tables.get(path);
        if (table == null) {
            table = new TableStream<>(this, path, put.target().schemaOf(path));
            tables.put(path, table);
        }
        try {
            table.add(entry);
        } catch (ArrowException error) {
            synchronized (this) {
                report.addFailed(1);
                stream.failed(new EntryException(null, error.getMessage()), entry);
            }
            put.addFailed(1, false);
        }
    }

    /**
     * Waits until entries of so many bytes may be kept. True where the server should flush soon.
     */
    boolean keep(long bytes) {
        synchronized (this) {
            if (keptBytes + bytes <= keptBytesMax) {
                keptBytes += bytes;
                boolean isDue = keptBytes > keptBytesMax / 2 && !isFlushAsked;
                isFlushAsked |= isDue;
                return isDue;
            }
        }
        // All tables: the entries that take the memory may be of any of them.
        tables.values().forEach(TableStream::flush);
        synchronized (this) {
            // One batch may be larger than the limit: it goes alone.
            while (keptBytes > 0 && keptBytes + bytes > keptBytesMax && !isStopped) {
                try {
                    wait();
                } catch (InterruptedException error) {
                    throw new TonnageException(TonnageException.Kind.CANCELLED, "interrupted",
                            error);
                }
            }
            keptBytes += bytes;
            return false;
        }
    }

    synchronized void release(long bytes, long entries) {
        keptBytes -= bytes;
        isFlushAsked &= keptBytes > keptBytesMax / 2;
        report.addAcknowledged(entries);
        notifyAll();
    }

    /** Wakes who waits for memory: nothing more is acknowledged. */
    synchronized void stopWaiting() {
        isStopped = true;
        notifyAll();
    }

    synchronized void sent(long entries) {
        report.addSent(entries);
    }

    synchronized void counted(Map<String, Object> counts) {
        report.add(counts);
    }

    synchronized void existing(E entry) {
        stream.keyExists(entry);
    }

    synchronized void failed(RuntimeException reason, E entry) {
        stream.failed(reason, entry);
    }
}
