import dev.tonnage.client.BulkGetOptions;
import dev.tonnage.client.BulkPutOptions;
import dev.tonnage.client.BulkPutReport;
import dev.tonnage.client.EntryStream;
import dev.tonnage.client.Key;
import dev.tonnage.client.Options;
import dev.tonnage.client.Pair;
import dev.tonnage.client.Pairs;
import dev.tonnage.client.Tonnage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Measures calls of pairs: bulk put, bulk get, and single calls of many threads. */
public class Speed {
    private static final int VALUE_BYTES = 100;
    private static final int STREAMS = 2;

    public static void main(String[] given) throws Exception {
        long pairs = Long.parseLong(given[1]);
        long keys = Long.parseLong(given[2]);
        int threads = Integer.parseInt(given[3]);
        long calls = Long.parseLong(given[4]);
        try (Tonnage store = Tonnage.connect(given[0], new Options())) {
            bulkPut(store, pairs);
            bulkGet(store.pairs(), pairs, keys);
            // The first calls of each kind warm the machine up.
            single("puts", threads, calls / 10, pairs, false, number ->
                    store.pairs().put(key(number), value(number)));
            single("puts", threads, calls, pairs, true, number ->
                    store.pairs().put(key(number), value(number)));
            single("gets", threads, calls / 10, pairs, false, number ->
                    store.pairs().get(key(number)));
            single("gets", threads, calls, pairs, true, number -> {
                if (store.pairs().get(key(number)) == null) {
                    throw new IllegalStateException("pair " + number + " is missing");
                }
            });
        }
    }

    private static Key key(long number) {
        return Key.of(List.of("user", String.format("%010d", number)), List.of());
    }

    private static byte[] value(long number) {
        byte[] value = new byte[VALUE_BYTES];
        SplittableRandom random = new SplittableRandom(number);
        for (int place = 0; place < VALUE_BYTES; place += 8) {
            long bits = random.nextLong();
            for (int byteOf = 0; byteOf < 8 && place + byteOf < VALUE_BYTES; byteOf++) {
                value[place + byteOf] = (byte) (bits >> 8 * byteOf);
            }
        }
        return value;
    }

    private static void bulkPut(Tonnage store, long pairs) {
        List<EntryStream<Pair>> streams = new ArrayList<>();
        for (int number = 0; number < STREAMS; number++) {
            Iterator<Pair> source = LongStream.range(pairs * number / STREAMS,
                    pairs * (number + 1) / STREAMS)
                    .mapToObj(each -> new Pair(key(each), value(each))).iterator();
            String name = "stream " + number;
            streams.add(new EntryStream<>() {
                @Override
                public String name() {
                    return name;
                }

                @Override
                public Pair getNext() {
                    return source.hasNext() ? source.next() : null;
                }
            });
        }
        BulkPutReport report = store.bulkPutPairs(streams,
                new BulkPutOptions().streamParallelism(STREAMS));
        if (report.inserted() != pairs) {
            throw new IllegalStateException(report.toString());
        }
        System.out.printf("bulk put of %,d pairs of %d bytes: %,.0f pairs/s%n", pairs, VALUE_BYTES,
                pairs / report.seconds());
    }

    private static void bulkGet(Pairs store, long pairs, long keys) {
        long step = Math.max(1, pairs / keys);
        long started = System.nanoTime();
        Iterator<Key> wanted = LongStream.range(0, keys).mapToObj(number ->
                key(number * 7_919 % keys * step)).iterator();
        long found = 0;
        try (Pairs.Found answers = store.bulkGet(List.of(wanted), new BulkGetOptions())) {
            while (answers.hasNext()) {
                answers.next();
                found++;
            }
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        if (found != keys) {
            throw new IllegalStateException(found + " of " + keys + " pairs");
        }
        System.out.printf("bulk get of %,d keys: %,.0f keys/s%n", keys, keys / seconds);
    }

    /** A call about a pair. */
    private interface Call {
        void run(long number) throws Exception;
    }

    private static void single(String name, int threads, long calls, long pairs, boolean isTold,
            Call call) throws Exception {
        long[][] nanos = new long[threads][(int) (calls / threads)];
        AtomicLong failed = new AtomicLong();
        List<Thread> running = new ArrayList<>();
        long started = System.nanoTime();
        for (int thread = 0; thread < threads; thread++) {
            long[] own = nanos[thread];
            SplittableRandom random = new SplittableRandom(thread);
            Thread caller = new Thread(() -> {
                for (int place = 0; place < own.length; place++) {
                    long before = System.nanoTime();
                    try {
                        call.run(random.nextLong(pairs));
                    } catch (Exception error) {
                        if (failed.incrementAndGet() == 1) {
                            error.printStackTrace();
                        }
                    }
                    own[place] = System.nanoTime() - before;
                }
            });
            caller.start();
            running.add(caller);
        }
        for (Thread caller : running) {
            caller.join();
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        if (failed.get() > 0) {
            throw new IllegalStateException(failed + " calls failed");
        }
        long[] all = IntStream.range(0, threads).boxed().flatMapToLong(thread ->
                Arrays.stream(nanos[thread])).sorted().toArray();
        if (isTold) {
            System.out.printf("single %s, %d threads: %,.0f/s, p50 %,d us, p99 %,d us%n", name,
                    threads, all.length / seconds, all[all.length / 2] / 1000,
                    all[(int) (all.length * 0.99)] / 1000);
        }
    }
}
