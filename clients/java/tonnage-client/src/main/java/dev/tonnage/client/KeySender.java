package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowException;
import dev.tonnage.client.arrow.ArrowReader;
import dev.tonnage.client.arrow.ArrowSchema;
import dev.tonnage.client.arrow.ArrowWriter;
import dev.tonnage.client.arrow.BatchBuilder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Sends the keys of a bulk get, on a thread of its own, while rows are read. The first message has
 * few keys, so that the first rows come soon. Several sources are read in turn.
 */
final class KeySender<K> implements Runnable {
    private static final int FIRST_KEYS = 64;
    private static final int KEYS_MAX = 8_192;
    private static final long BYTES_MAX = 1 << 20;

    private final Wire wire;
    private final Exchange exchange;
    private final List<Iterator<? extends K>> sources;
    private final BatchBuilder batch;
    private final BiConsumer<BatchBuilder, K> add;
    private volatile Throwable failure;

    private KeySender(Wire wire, Exchange exchange, ArrowSchema schema,
            List<Iterator<? extends K>> sources, BiConsumer<BatchBuilder, K> add) {
        this.wire = wire;
        this.exchange = exchange;
        this.sources = new ArrayList<>(sources);
        this.batch = new BatchBuilder(schema);
        this.add = add;
    }

    /** Begins a bulk get. */
    static <K> Rows start(Wire wire, Map<String, Object> command, BulkGetOptions options,
            ArrowSchema keys, List<Iterator<? extends K>> sources,
            BiConsumer<BatchBuilder, K> add) {
        Exchange exchange = new Exchange(wire, Map.of("bulk_get", command), options.cancel(),
                options.timeout());
        KeySender<K> sender = new KeySender<>(wire, exchange, keys, sources, add);
        Thread thread = new Thread(sender, "tonnage-keys");
        thread.setDaemon(true);
        thread.start();
        try {
            ArrowReader reader = new ArrowReader(exchange.answer());
            return new Rows(reader, exchange, options.hasRelatives(), sender::lost);
        } catch (TonnageException error) {
            exchange.close();
            throw sender.failure == null ? error : sender.lost(null);
        }
    }

    /** As that of the exchange; a source that failed comes first. */
    private TonnageException lost(IOException error) {
        Throwable failed = failure;
        if (failed instanceof TonnageException) {
            return (TonnageException) failed;
        }
        if (failed != null) {
            return new TonnageException(TonnageException.Kind.INVALID_REQUEST,
                    "the source of the keys failed: " + Wire.reason(failed), failed);
        }
        return exchange.lost(error);
    }

    @Override
    public void run() {
        try {
            ArrowWriter writer = new ArrowWriter(exchange.body());
            exchange.send(() -> writer.schema(batch.schema()));
            exchange.keepAlive(wire, writer);
            int keys = FIRST_KEYS;
            while (fill(keys)) {
                exchange.send(() -> writer.batch(batch, null));
                batch.clear();
                keys = Math.min(2 * keys, KEYS_MAX);
            }
            exchange.send(writer::end);
            exchange.endBody();
        } catch (IOException error) {
            // The answer says why, or its reader hears that the connection is gone.
        } catch (Throwable error) {
            // An `Error` of a source, too: the reader of the rows would wait for ever.
            failure = error instanceof ArrowException ? new TonnageException(
                    TonnageException.Kind.INVALID_REQUEST, error.getMessage(), error) : error;
            exchange.close();
        }
    }

    /** Takes keys from the sources in turn. False when there are no more. */
    private boolean fill(int wanted) {
        while (batch.rows() < wanted && !sources.isEmpty()) {
            Iterator<Iterator<? extends K>> turn = sources.iterator();
            while (turn.hasNext() && batch.rows() < wanted) {
                if (!take(turn.next(), Math.max(1, wanted / sources.size()))) {
                    turn.remove();
                }
                if (batch.bytes() >= BYTES_MAX) {
                    return true;
                }
            }
        }
        return batch.rows() > 0;
    }

    /** Takes keys of one source. False where it has no more. */
    private boolean take(Iterator<? extends K> source, int wanted) {
        for (int count = 0; count < wanted; count++) {
            if (!source.hasNext()) {
                return false;
            }
            add.accept(batch, source.next());
            if (batch.bytes() >= BYTES_MAX) {
                break;
            }
        }
        return true;
    }
}
