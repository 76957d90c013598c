package oracle.kv.impl.api.table;

/** Names of tables in namespaces. */
final class NameUtils {
    private NameUtils() {
    }

    static String makeQualifiedName(String namespace, String name) {
        return namespace + ":" + name;
    }
}
