import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.ServerVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

/** Serves an empty store in memory on 127.0.0.1 and the port that is its one argument. */
public class Launcher {
    public static void main(String[] arguments) {
        MemoryBackend backend = new MemoryBackend();
        backend.version(ServerVersion.MONGO_5_0);
        new MongoServer(backend).bind("127.0.0.1", Integer.parseInt(arguments[0]));
    }
}
