// Loaded before the C library: who asks for `server.andon.test`, which no resolver knows, is noted and sent to this
// machine. Only the first is answered; a resolver may take for ever.
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <unistd.h>

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* wanted, addrinfo** found) {
    static const auto system = reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    if (name == nullptr || std::strcmp(name, "server.andon.test") != 0) return system(name, service, wanted, found);
    const int notes = ::open(std::getenv("NOTED_LOOKUPS"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    const bool first = ::lseek(notes, 0, SEEK_END) == 0;
    if (::write(notes, "x", 1) != 1) return EAI_SYSTEM;
    ::close(notes);
    while (!first) ::pause();
    return system("127.0.0.1", service, wanted, found);
}
