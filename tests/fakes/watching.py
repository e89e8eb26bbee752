"""What watchers of an episode were shown: pieces are encoded so that they can be read back.

previews = Episodes(pickled)
shown(episode)      every `Said` of it, in order
"""

import pickle


def pickled(_key, said):
    return pickle.dumps(said)


def shown(episode):
    return [pickle.loads(encoded) for encoded in episode.encoded]
