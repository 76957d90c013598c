package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowBatch;
import dev.tonnage.client.arrow.ArrowException;
import dev.tonnage.client.arrow.ArrowField;
import dev.tonnage.client.arrow.ArrowReader;
import dev.tonnage.client.arrow.ArrowSchema;
import dev.tonnage.client.arrow.ArrowType;
import dev.tonnage.client.arrow.ArrowWriter;
import dev.tonnage.client.arrow.BatchBuilder;
import dev.tonnage.client.internal.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** A large object that is read: its bytes, its length and its version. Close it. */
public final class LargeObject extends InputStream {
    private static final int PIECE_BYTES = 1 << 20;
    private static final ArrowSchema BYTES =
            ArrowSchema.of(ArrowField.of("bytes", ArrowType.BINARY, false));

    private final Rows pieces;
    private final long length;
    private final long version;
    private byte[] piece = new byte[0];
    private int at;
    private ArrowBatch batch;
    private int next;

    private LargeObject(Rows pieces, long length, long version) {
        this.pieces = pieces;
        this.length = length;
        this.version = version;
    }

    static LargeObject open(Wire wire, Key key) {
        Map<String, Object> command = Map.of("get_lob", Map.of("key", key.toString()));
        Exchange exchange = new Exchange(wire, command, null, null);
        boolean isOpen = false;
        try {
            exchange.body().close();
            ArrowReader reader = new ArrowReader(exchange.answer());
            Rows pieces = new Rows(reader, exchange, false, exchange::lost);
            String told = pieces.schema().metadata().get("tonnage.lob");
            if (told == null) {
                throw new ArrowException("the answer tells no length of the large object");
            }
            Map<String, Object> info = Json.parseObject(told);
            LargeObject object = new LargeObject(pieces, Json.whole(info.get("bytes")),
                    Json.whole(info.get("version")));
            isOpen = true;
            return object;
        } catch (TonnageException error) {
            if (error.kind() == TonnageException.Kind.NOT_FOUND) {
                return null;
            }
            throw error;
        } catch (IOException error) {
            throw exchange.lost(error);
        } finally {
            if (!isOpen) {
                exchange.close();
            }
        }
    }

    static long put(Wire wire, Key key, InputStream bytes, Condition condition,
            WriteOptions options) {
        if (options.ttl() != null) {
            throw new TonnageException(TonnageException.Kind.INVALID_REQUEST,
                    "large objects have no time to live: leave out ttl");
        }
        Map<String, Object> words = new LinkedHashMap<>();
        words.put("key", key.toString());
        if (options.durability() != null) {
            words.put("durability", options.durability().word());
        }
        if (condition.word() != null) {
            words.put("if", condition.word());
        }
        try (Exchange exchange = new Exchange(wire, Map.of("put_lob", words), null,
                options.timeout())) {
            TonnageException torn = send(wire, exchange, bytes);
            return version(exchange, torn);
        }
    }

    /** Sends all bytes. What the connection says is told only if the server says nothing. */
    private static TonnageException send(Wire wire, Exchange exchange, InputStream bytes) {
        ArrowWriter writer = new ArrowWriter(exchange.body());
        BatchBuilder batch = new BatchBuilder(BYTES);
        long sent = 0;
        try {
            exchange.send(() -> writer.schema(BYTES));
            // A source may be slow.
            exchange.keepAlive(wire, writer);
            while (true) {
                byte[] piece;
                try {
                    piece = bytes.readNBytes(PIECE_BYTES);
                } catch (IOException error) {
                    exchange.close();
                    throw new TonnageException(TonnageException.Kind.CANCELLED, "the source of the "
                            + "large object failed, and it is not stored: " + Wire.reason(error),
                            error);
                }
                if (piece.length == 0) {
                    break;
                }
                batch.clear();
                batch.addBytes(piece, 0, piece.length);
                exchange.send(() -> writer.batch(batch, null));
                sent += piece.length;
            }
            String end = Json.write(Map.of("end", Map.of("bytes", sent)));
            exchange.send(() -> {
                writer.words(end);
                writer.end();
            });
            exchange.endBody();
            return null;
        } catch (IOException error) {
            return exchange.lost(error);
        }
    }

    private static long version(Exchange exchange, TonnageException torn) {
        try (BufferedReader lines = new BufferedReader(
                new InputStreamReader(exchange.answer(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Map<String, Object> told = Json.parseObject(line);
                if (told.containsKey("stored")) {
                    return Json.whole(Json.object(told.get("stored")).get("version"));
                }
                if (told.containsKey("error")) {
                    throw Wire.error(Json.object(told.get("error")));
                }
            }
        } catch (IOException error) {
            throw exchange.lost(error);
        }
        throw torn != null ? torn : new TonnageException(TonnageException.Kind.CONNECTION_LOST,
                "the answer ended before the large object was stored: whether it is, is not known");
    }

    /** How many bytes the whole object has. */
    public long length() {
        return length;
    }

    /** Its version. */
    public long version() {
        return version;
    }

    private boolean fill() {
        while (at >= piece.length) {
            while (batch == null || next >= batch.rows()) {
                batch = pieces.nextBatch();
                next = 0;
                if (batch == null) {
                    return false;
                }
            }
            piece = batch.column(0).getBytes(next++);
            at = 0;
        }
        return true;
    }

    @Override
    public int read() {
        return fill() ? piece[at++] & 0xFF : -1;
    }

    @Override
    public int read(byte[] into, int from, int count) {
        if (count == 0) {
            return 0;
        }
        if (!fill()) {
            return -1;
        }
        int taken = Math.min(count, piece.length - at);
        System.arraycopy(piece, at, into, from, taken);
        at += taken;
        return taken;
    }

    @Override
    public void close() {
        pieces.close();
    }
}
