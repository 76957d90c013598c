package dev.tonnage.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Compiles and runs the program that the page for users of Java shows. */
@Timeout(120)
class DocsTest {
    private static final Path PAGE = Path.of("../../../docs/java.md");

    @TempDir
    Path directory;

    @Test
    void theFirstProgramOfThePageRuns() throws IOException, InterruptedException {
        String page = Files.readString(PAGE);
        Matcher found = Pattern.compile("```java\n(.*?class First .*?)```", Pattern.DOTALL)
                .matcher(page);
        assertTrue(found.find(), "the page has no program First");
        try (TestServer server = TestServer.start()) {
            assertTrue(found.group(1).contains("http://localhost:7410"));
            Path file = directory.resolve("First.java");
            Files.writeString(file, found.group(1).replace("http://localhost:7410", server.url()));
            ByteArrayOutputStream told = new ByteArrayOutputStream();
            String classpath = System.getProperty("java.class.path");
            int status = ToolProvider.getSystemJavaCompiler().run(null, told, told, "-cp",
                    classpath, "-d", directory.toString(), file.toString());
            assertEquals(0, status, told.toString(StandardCharsets.UTF_8));
            Process process = new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                    directory + System.getProperty("path.separator") + classpath, "First")
                    .redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(),
                    StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), output);
            assertTrue(output.startsWith("1000000 sent, 1000000 inserted, 0 existed"), output);
            assertTrue(output.trim().endsWith("1000000"), output);
        }
    }
}
