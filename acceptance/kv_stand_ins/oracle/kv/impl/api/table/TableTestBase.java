package oracle.kv.impl.api.table;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import oracle.kv.Consistency;
import oracle.kv.Direction;
import oracle.kv.KVStore;
import oracle.kv.KVStoreFactory;
import oracle.kv.TestBase;
import oracle.kv.table.PrimaryKey;
import oracle.kv.table.Table;
import oracle.kv.table.TableAPI;
import oracle.kv.table.TableIterator;
import oracle.kv.table.TableIteratorOptions;
import oracle.kv.util.CreateStore;
import org.junit.AfterClass;

/** What tests of tables share. */
public class TableTestBase extends TestBase {
    protected static final TableIteratorOptions countOpts = new TableIteratorOptions(
            Direction.UNORDERED, Consistency.ABSOLUTE, 0, null, 0, 200);

    protected static CreateStore createStore;
    protected static KVStore store;
    protected static TableAPI tableImpl;

    protected static void staticSetUp(int nodes, int copies, int capacity) throws Exception {
        createStore = new CreateStore("tables", 0, nodes, copies, 10, capacity,
                CreateStore.MB_PER_SN, false, null);
        createStore.start();
        store = KVStoreFactory.getStore(createStore.createKVConfig());
        tableImpl = store.getTableAPI();
    }

    @AfterClass
    public static void staticTearDown() throws Exception {
        if (store != null) {
            store.close();
        }
        if (createStore != null) {
            createStore.shutdown();
        }
    }

    @Override
    public void tearDown() throws Exception {
        // Children go before their parents.
        List<String> names = tableImpl.getTables().values().stream().flatMap(table ->
                java.util.stream.Stream.concat(java.util.stream.Stream.of(table),
                        table.getChildTables().values().stream()))
                .map(Table::getFullName).distinct()
                .sorted(Comparator.comparingInt(String::length).reversed())
                .collect(Collectors.toList());
        names.forEach(name -> store.executeSync("DROP TABLE IF EXISTS " + name));
    }

    static TableImpl getTable(String name) {
        Table table = tableImpl.getTable(name);
        return table == null ? null : TableImpl.of(table, table.getFullName(), null);
    }

    static TableImpl addTable(TableImpl table, boolean shouldSucceed) {
        store.executeSync(table.definition());
        return getTable(table.getFullName());
    }

    static void removeTable(String namespace, String name, boolean shouldSucceed) {
        store.executeSync("DROP TABLE " + name);
    }

    static void createTable(String statement, String namespace) {
        executeDdl(statement, namespace);
    }

    static void executeDdl(String statement) {
        store.executeSync(statement);
    }

    static void executeDdl(String statement, String namespace) {
        if (namespace != null) {
            throw new UnsupportedOperationException("there are no namespaces here");
        }
        store.executeSync(statement);
    }

    static int countTableRows(PrimaryKey key, Table table) {
        TableIterator<PrimaryKey> rows = tableImpl.tableKeysIterator(key, null, countOpts);
        int count = 0;
        while (rows.hasNext()) {
            rows.next();
            count++;
        }
        rows.close();
        return count;
    }
}
