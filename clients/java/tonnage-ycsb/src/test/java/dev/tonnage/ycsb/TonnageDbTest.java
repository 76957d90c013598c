package dev.tonnage.ycsb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tonnage.client.Result;
import dev.tonnage.client.TestServer;
import dev.tonnage.client.Tonnage;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;

@Timeout(60)
class TonnageDbTest {
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static TonnageDb connected(String... properties) throws DBException {
        Properties given = new Properties();
        given.setProperty("tonnage.url", server.url());
        given.setProperty("fieldcount", "3");
        for (int index = 0; index < properties.length; index += 2) {
            given.setProperty(properties[index], properties[index + 1]);
        }
        TonnageDb db = new TonnageDb();
        db.setProperties(given);
        db.init();
        return db;
    }

    private static Map<String, ByteIterator> values(String first, int fields) {
        Map<String, ByteIterator> values = new HashMap<>();
        for (int field = 0; field < fields; field++) {
            byte[] value = (first + field).getBytes();
            values.put("field" + field, new ByteArrayByteIterator(value));
        }
        return values;
    }

    @Test
    void whatIsInsertedIsReadChangedScannedAndDeleted() throws DBException {
        TonnageDb db = connected();
        for (int user = 0; user < 10; user++) {
            assertEquals(Status.OK, db.insert("usertable", "user" + user, values("v", 3)));
        }
        byte[] changed = {0, (byte) 0xFF};
        assertEquals(Status.OK, db.update("usertable", "user4",
                Map.of("field1", new ByteArrayByteIterator(changed))));
        Map<String, ByteIterator> read = new HashMap<>();
        assertEquals(Status.OK, db.read("usertable", "user4", null, read));
        assertEquals(Set.of("field0", "field1", "field2"), read.keySet());
        assertArrayEquals(changed, read.get("field1").toArray());
        assertArrayEquals("v2".getBytes(), read.get("field2").toArray());
        Map<String, ByteIterator> one = new HashMap<>();
        assertEquals(Status.OK, db.read("usertable", "user4", Set.of("field2"), one));
        assertEquals(Set.of("field2"), one.keySet());
        Vector<HashMap<String, ByteIterator>> scanned = new Vector<>();
        assertEquals(Status.OK, db.scan("usertable", "user4", 3, null, scanned));
        assertEquals(3, scanned.size());
        assertArrayEquals(changed, scanned.get(0).get("field1").toArray());
        assertEquals(Status.OK, db.delete("usertable", "user4"));
        assertEquals(Status.NOT_FOUND, db.delete("usertable", "user4"));
        assertEquals(Status.NOT_FOUND, db.read("usertable", "user4", null, new HashMap<>()));
        assertEquals(Status.NOT_FOUND, db.update("usertable", "user4", values("w", 1)));
        db.cleanup();
    }

    @Test
    void aBatchIsStoredWhenItIsFullAndAtTheEnd() throws DBException {
        TonnageDb db = connected("batchsize", "4");
        for (int user = 0; user < 10; user++) {
            Status wanted = user % 4 == 3 ? Status.OK : Status.BATCHED_OK;
            assertEquals(wanted, db.insert("batched", "user" + user, values("v", 3)));
        }
        try (Tonnage store = server.connect()) {
            assertEquals(8, count(store));
            db.cleanup();
            assertEquals(10, count(store));
        }
    }

    private static long count(Tonnage store) {
        try (Result answer = store.sql("SELECT count(*) AS n FROM batched")) {
            return answer.rows().next().getLong("n");
        }
    }

    @Test
    void whatCannotBeStoredIsAnError() throws DBException {
        TonnageDb db = connected();
        assertEquals(Status.ERROR, db.insert("refused", "user", values("v", 4)));
        TonnageDb batched = connected("batchsize", "100");
        assertEquals(Status.BATCHED_OK, batched.insert("refused", "user", values("v", 4)));
        assertThrows(DBException.class, batched::cleanup);
    }

    @Test
    void aDurabilityThatThereIsNotIsRefused() {
        assertThrows(DBException.class, () -> connected("tonnage.durability", "some"));
    }
}
