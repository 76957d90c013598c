package oracle.kv.impl.test;

/** A server has no such settings. */
public final class TestStatus {
    public static void setManyRNs(boolean has) {
    }
}
