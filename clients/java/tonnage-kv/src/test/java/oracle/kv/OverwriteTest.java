package oracle.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tonnage.client.Condition;
import dev.tonnage.client.Key;
import dev.tonnage.client.Pair;
import dev.tonnage.client.TestServer;
import dev.tonnage.client.Tonnage;
import dev.tonnage.client.WriteOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Another write comes between the read and the write of each call here, once. */
@Timeout(60)
class OverwriteTest {
    private static final Key KEY = Key.of("key");
    private static TestServer server;
    private static Tonnage client;

    @BeforeAll
    static void start() {
        server = TestServer.start();
        client = server.connect();
    }

    @AfterAll
    static void stop() {
        client.close();
        server.close();
    }

    @BeforeEach
    void clear() {
        client.pairs().delete(KEY);
    }

    private static long put(String value) {
        return client.pairs().put(KEY, value.getBytes());
    }

    private static Overwrite<Pair> write(Condition condition, Runnable between) {
        Runnable[] once = {between};
        return Overwrite.make(condition, () -> {
            Pair found = client.pairs().get(KEY);
            once[0].run();
            once[0] = () -> { };
            return found;
        }, Pair::version, held -> client.pairs()
                .put(KEY, "new".getBytes(), held, new WriteOptions()));
    }

    private static String value(Pair pair) {
        return new String(pair.value());
    }

    @Test
    void aPutTellsThePairThatItReplaced() {
        put("old");
        Overwrite<Pair> made = write(Condition.ALWAYS, () -> put("between"));
        assertTrue(made.isStored());
        assertEquals("between", value(made.before()));
    }

    @Test
    void aPutWhereNothingIsTellsThePairThatKeptItFromBeingMade() {
        Overwrite<Pair> made = write(Condition.IF_ABSENT, () -> put("between"));
        assertFalse(made.isStored());
        assertNull(made.written());
        assertEquals("between", value(made.before()));
    }

    @Test
    void aPutOverAPairIsNotMadeOverOneThatCameBehindTheRead() {
        Overwrite<Pair> made = write(Condition.IF_PRESENT, () -> put("between"));
        assertFalse(made.isStored());
        assertNull(made.before());
        assertEquals("between", value(client.pairs().get(KEY)));
    }

    @Test
    void aPutOverAVersionTellsWhatIsThereInstead() {
        long version = put("old");
        Overwrite<Pair> made = write(Condition.ifVersion(version), () -> put("between"));
        assertFalse(made.isStored());
        assertEquals("between", value(made.before()));
        Overwrite<Pair> met =
                write(Condition.ifVersion(client.pairs().get(KEY).version()), () -> { });
        assertTrue(met.isStored());
        assertEquals("between", value(met.before()));
    }
}
