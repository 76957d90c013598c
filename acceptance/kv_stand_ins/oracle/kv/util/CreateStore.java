package oracle.kv.util;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import oracle.kv.KVStoreConfig;

/** A server over a store in memory, whatever number of nodes is asked for. */
public final class CreateStore {
    public static final int MB_PER_SN = 256;

    private final String name;
    private Process process;
    private String address;

    public CreateStore(String name, int startPort, int nodes, int copies, int partitions,
            int capacity, int megabytes, boolean usesThreads, String unused) {
        this.name = name;
    }

    public void start() throws Exception {
        process = new ProcessBuilder(System.getenv("TONNAGE"), "serve", "--store", "memory:",
                "--create", "--http", "127.0.0.1:0", "--flight", "off").redirectErrorStream(true)
                .start();
        BufferedReader lines = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("HTTP")) {
                address = line.substring(line.indexOf("http://") + "http://".length());
            }
            if (line.equals("ready")) {
                return;
            }
        }
        throw new IllegalStateException("the server ended");
    }

    public KVStoreConfig createKVConfig() {
        // The tests come from a store whose calls may take longer than 5 s on a busy machine.
        return new KVStoreConfig(name, address).setRequestTimeout(60, TimeUnit.SECONDS);
    }

    public void shutdown() throws Exception {
        process.destroy();
        process.waitFor();
    }
}
