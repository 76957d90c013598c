package oracle.kv.impl.api.table;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import oracle.kv.table.Table;

/** A table that exists, or one that a builder describes. */
public interface TableImpl extends Table {
    /** The statement that makes it; null where it exists. */
    String definition();

    static TableImpl of(Table table, String name, String definition) {
        return (TableImpl) Proxy.newProxyInstance(TableImpl.class.getClassLoader(),
                new Class<?>[] {TableImpl.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("definition")) {
                        return definition;
                    }
                    if (method.getName().equals("getFullName")) {
                        return name;
                    }
                    try {
                        return method.invoke(table, arguments);
                    } catch (InvocationTargetException error) {
                        throw error.getCause();
                    }
                });
    }
}
