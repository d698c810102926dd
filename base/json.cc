#include "base/json.h"

template class nlohmann::basic_json<>;
template class nlohmann::detail::serializer<nlohmann::json>;
template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
template class nlohmann::detail::parser<nlohmann::json,
                                        nlohmann::detail::iterator_input_adapter<const char*>>;
