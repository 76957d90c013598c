package oracle.kv.impl.util.server;

/** The server has a log of its own. */
public final class LoggerUtils {
    public static void closeAllHandlers() {
    }
}
