"""Bringing cocli to other machines by plain ssh, and taking it back.

releases   the wheel that is shipped, and its hash
packages   the locked packages for a host's processor and Python, as one archive
ssh        one host over ssh: runs `agent` there, which needs nothing but Python
agent      what is done on the host: install, switch, drain, roll back; it is sent as text and imports only itself
targets    which hosts are meant, and by which name each is known to the campaign
steps      one host from the first look to the heartbeat of the new release
hosts      all of them side by side
"""
