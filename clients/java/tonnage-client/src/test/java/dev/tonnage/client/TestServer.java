package dev.tonnage.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A server on a free port of loopback, over a store of its own, until it is closed. */
public final class TestServer implements AutoCloseable {
    private final Process process;
    private final Path directory;
    private final String url;

    private TestServer(Process process, Path directory, String url) {
        this.process = process;
        this.directory = directory;
        this.url = url;
    }

    /** Starts the program that TONNAGE_PROGRAM names. */
    public static TestServer start(String... arguments) {
        String program = System.getenv("TONNAGE_PROGRAM");
        if (program == null || program.isEmpty()) {
            throw new IllegalStateException("TONNAGE_PROGRAM does not name the program `tonnage`: "
                    + "run clients/java/run-tests, which sets it");
        }
        try {
            Path directory = Files.createTempDirectory("tonnage-java-");
            List<String> command = new ArrayList<>(List.of(program, "serve", "--create", "--store",
                    directory.resolve("store").toString(), "--http", "127.0.0.1:0", "--flight",
                    "off"));
            command.addAll(Arrays.asList(arguments));
            Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
            return ready(process, directory);
        } catch (IOException error) {
            throw new IllegalStateException("the server does not start", error);
        }
    }

    private static TestServer ready(Process process, Path directory) throws IOException {
        BufferedReader lines = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String url = null;
        StringBuilder told = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            told.append(line).append('\n');
            if (line.startsWith("HTTP")) {
                url = line.substring(line.indexOf("http"));
            }
            if (line.equals("ready")) {
                Thread rest = new Thread(() -> drain(lines));
                rest.setDaemon(true);
                rest.start();
                return new TestServer(process, directory, url);
            }
        }
        throw new IllegalStateException("the server ended: " + told);
    }

    /** What is not read would stop the server at some time. */
    private static void drain(BufferedReader lines) {
        try {
            while (lines.readLine() != null) {
                Thread.onSpinWait();
            }
        } catch (IOException ended) {
            // The server was killed.
        }
    }

    /** The address of its HTTP listener. */
    public String url() {
        return url;
    }

    /** A client of it. */
    public Tonnage connect() {
        return Tonnage.connect(url, new Options());
    }

    /** Ends it as a crash would. */
    public void kill() {
        process.destroyForcibly();
        await();
    }

    private void await() {
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the server does not end");
            }
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        process.destroy();
        await();
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException error) {
            throw new IllegalStateException("the store cannot be removed", error);
        }
    }
}
