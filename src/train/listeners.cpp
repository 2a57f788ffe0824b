// The table of listeners.
#include "train/listener.h"

namespace heed {

// Each in its own file, NAME_listener.cpp.
using MakeListener = std::unique_ptr<Listener>(const ListenerContext&);
MakeListener terminal_listener, metrics_listener, yardsticks_listener, film_listener,
    remarks_listener;

// In the order in which they hear.
constexpr MakeListener* kListeners[] = {terminal_listener, metrics_listener, yardsticks_listener,
                                        film_listener, remarks_listener};

Listeners listeners(const ListenerContext& context) {
  Listeners all;
  for (MakeListener* make : kListeners) all.push_back(make(context));
  return all;
}

}  // namespace heed
