package oracle.kv.impl.util;

/** Each store is in memory, so that nothing is left of others. */
public final class TestUtils {
    public static void clearTestDirectory() {
    }
}
