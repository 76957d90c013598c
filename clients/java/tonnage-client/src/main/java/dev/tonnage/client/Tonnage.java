package dev.tonnage.client;

import dev.tonnage.client.arrow.ArrowReader;
import dev.tonnage.client.arrow.ArrowSchema;
import dev.tonnage.client.arrow.BatchBuilder;
import dev.tonnage.client.internal.Json;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A client of `tonnage serve`. Threads may share it.
 *
 * <pre>{@code
 * try (Tonnage store = Tonnage.connect("http://localhost:7410", new Options())) {
 *     store.sql("CREATE TABLE IF NOT EXISTS ships (id LONG, name STRING, PRIMARY KEY (id))")
 *         .close();
 *     Table ships = store.table("ships");
 *     ships.put(Row.of("id", 2).set("name", "Emma"));
 * }
 * }</pre>
 *
 * <p>Single calls and answers go by `java.net.http`, over HTTP/2 where the server offers it. Bulk
 * calls have a connection each.
 */
public final class Tonnage implements AutoCloseable {
    private final Wire wire;

    private Tonnage(Wire wire) {
        this.wire = wire;
    }

    /**
     * Connects.
     *
     * @param url the address of the HTTP listener, such as `http://host:7410`
     * @throws TonnageException when nothing answers there
     */
    public static Tonnage connect(String url, Options options) {
        Wire wire = new Wire(url, options);
        try {
            wire.sendWhole(wire.request("GET", "/health/live", null, null, null).build());
            return new Tonnage(wire);
        } catch (TonnageException error) {
            wire.close();
            throw error;
        }
    }

    /**
     * A table, with its columns as they are now.
     *
     * @throws TonnageException NOT_FOUND where there is no such table
     */
    public Table table(String path) {
        return new Table(wire, path);
    }

    /** The paths of all tables that the caller may see. */
    public List<String> tables() {
        String told = wire.sendText(wire.request("GET", "/v1/tables", null, null, null).build());
        List<String> paths = new ArrayList<>();
        for (Object table : Json.list(Json.parseObject(told).get("tables"))) {
            paths.add(String.valueOf(Json.object(table).get("path")));
        }
        return paths;
    }

    /** The key/value pairs. */
    public Pairs pairs() {
        return new Pairs(wire);
    }

    /** Runs a statement. Close the answer where it has rows. */
    public Result sql(String text, Object... parameters) {
        return sql(Statement.of(text, parameters));
    }

    /** Runs a statement. Close the answer where it has rows. */
    public Result sql(Statement statement) {
        byte[] body = Json.write(statement.words()).getBytes(StandardCharsets.UTF_8);
        HttpRequest request = wire.request("POST", "/v1/sql", Wire.JSON, body, null)
                .header("Accept", Wire.ARROW).build();
        HttpResponse<InputStream> response = wire.send(request);
        String kind = response.headers().firstValue("content-type").orElse("");
        InputStream answer = response.body();
        if (kind.startsWith(Wire.ARROW)) {
            return new Result(new Rows(new ArrowReader(answer), answer, false, Tonnage::lost), null,
                    null);
        }
        try (InputStream from = answer) {
            String told = new String(from.readAllBytes(), StandardCharsets.UTF_8);
            return new Result(null, Json.parseObject(told), null);
        } catch (IOException error) {
            throw lost(error);
        }
    }

    private static TonnageException lost(IOException error) {
        return error == null ? null : new TonnageException(TonnageException.Kind.CONNECTION_LOST,
                "the answer was cut off: " + Wire.reason(error)
                + ". The rows before are good, but not all", error);
    }

    /** Runs definitions, such as CREATE TABLE; several are parted by semicolons. */
    public void define(String text) {
        wire.sendWhole(wire.request("POST", "/v1/tables", "text/plain",
                text.getBytes(StandardCharsets.UTF_8), null).build());
    }

    /**
     * Runs up to 10,000 statements in one call, side by side.
     *
     * @return an answer for each, in their order; a statement that failed has an
     *     {@link Result#error}
     */
    public List<Result> fetchAll(List<Statement> statements) {
        List<Object> words = new ArrayList<>();
        statements.forEach(statement -> words.add(statement.words()));
        byte[] body = Json.write(words).getBytes(StandardCharsets.UTF_8);
        ByteBuffer told = ByteBuffer.wrap(wire.act("tonnage.FetchAll", body, null))
                .order(ByteOrder.LITTLE_ENDIAN);
        Result[] results = new Result[statements.size()];
        while (told.hasRemaining()) {
            Map<String, Object> header = Json.parseObject(
                    new String(part(told), StandardCharsets.UTF_8));
            byte[] rows = part(told);
            int index = (int) Json.whole(header.get("index"));
            if (index < 0 || index >= results.length) {
                throw new TonnageException(TonnageException.Kind.INTERNAL_ERROR,
                        "the server answers a statement " + index + ", which was not sent");
            }
            results[index] = result(header, rows);
        }
        for (int index = 0; index < results.length; index++) {
            if (results[index] == null) {
                throw new TonnageException(TonnageException.Kind.INTERNAL_ERROR,
                        "the server does not answer statement " + index);
            }
        }
        return Arrays.asList(results);
    }

    private static byte[] part(ByteBuffer from) {
        int length = from.remaining() < 4 ? -1 : from.getInt();
        if (length < 0 || length > from.remaining()) {
            throw new TonnageException(TonnageException.Kind.CONNECTION_LOST,
                    "the answer is cut off");
        }
        byte[] part = new byte[length];
        from.get(part);
        return part;
    }

    private static Result result(Map<String, Object> header, byte[] rows) {
        if (header.get("error") != null) {
            return new Result(null, null, Wire.error(Json.object(header.get("error"))));
        }
        if (rows.length == 0) {
            Object told = header.get("ok");
            return new Result(null, told instanceof Map ? Json.object(told) : Map.of(), null);
        }
        InputStream from = new ByteArrayInputStream(rows);
        return new Result(new Rows(new ArrowReader(from), from, false, Tonnage::lost), null, null);
    }

    /**
     * Carries out writes of one shard key, all or none.
     *
     * @throws TonnageException for rows of several shard keys
     */
    public WriteResult write(List<Write> operations, WriteOptions options) {
        return Write.send(wire, operations, options);
    }

    /**
     * Puts the rows of many streams into a table. Returns once all of them have the durability
     * asked for.
     *
     * @throws BulkPutException what stopped it, with what is known of the rows
     */
    public BulkPutReport bulkPut(Table table, List<? extends EntryStream<Row>> streams,
            BulkPutOptions options) {
        return bulkPutEntries(new RowOf<Row>() {
            @Override
            public Table tableOf(Row row) {
                return table;
            }

            @Override
            public Row rowOf(Row row) {
                return row;
            }
        }, streams, options);
    }

    /**
     * Turns entries of a program's own into rows.
     *
     * @param <E> the entries
     */
    public interface RowOf<E> {
        /** The table of an entry. */
        Table tableOf(E entry);

        /** The row of an entry. */
        Row rowOf(E entry);
    }

    /**
     * Puts the entries of many streams as rows of the tables that each names. Streams hear of their
     * own entries.
     */
    public <E> BulkPutReport bulkPutEntries(RowOf<E> rows, List<? extends EntryStream<E>> streams,
            BulkPutOptions options) {
        Map<String, Table> tables = new ConcurrentHashMap<>();
        return new BulkPut<>(wire, new EntryTarget<E>() {
            @Override
            public String tableOf(E entry) {
                Table table = rows.tableOf(entry);
                tables.putIfAbsent(table.path(), table);
                return table.path();
            }

            @Override
            public ArrowSchema schemaOf(String path) {
                return tables.get(path).putSchema();
            }

            @Override
            public void append(BatchBuilder batch, E entry) {
                rows.tableOf(entry).append(batch, rows.rowOf(entry));
            }
        }, options).run(streams);
    }

    /**
     * Turns entries of a program's own into pairs.
     *
     * @param <E> the entries
     */
    public interface PairOf<E> {
        /** The pair of an entry. */
        Pair of(E entry);
    }

    /**
     * Puts the pairs of many streams.
     *
     * @throws BulkPutException what stopped it, with what is known of the pairs
     */
    public BulkPutReport bulkPutPairs(List<? extends EntryStream<Pair>> streams,
            BulkPutOptions options) {
        return bulkPutPairs(pair -> pair, streams, options);
    }

    /** Puts the entries of many streams as pairs. Streams hear of their own entries. */
    public <E> BulkPutReport bulkPutPairs(PairOf<E> pairs, List<? extends EntryStream<E>> streams,
            BulkPutOptions options) {
        return new BulkPut<>(wire, new EntryTarget<E>() {
            @Override
            public String tableOf(E entry) {
                return null;
            }

            @Override
            public ArrowSchema schemaOf(String path) {
                return Pairs.PAIRS;
            }

            @Override
            public void append(BatchBuilder batch, E entry) {
                Pair pair = pairs.of(entry);
                batch.addPair(pair.key().majorBytes(), pair.key().minorBytes(), pair.value());
            }
        }, options).run(streams);
    }

    /** Makes everything durable that was acknowledged; role `operator`. */
    public void sync() {
        wire.sendWhole(wire.request("POST", "/v1/admin/sync", null, null, null).build());
    }

    @Override
    public void close() {
        wire.close();
    }
}
