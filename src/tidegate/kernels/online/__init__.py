"""The online learner as machine code: one pass over memory a step, for one learner or many.

``layout`` says where everything lies, ``frame`` what the code is told; ``layer_code``,
``pass_code``, ``readout_code``, ``loss_code`` and ``update_code`` write the parts of a step,
``online_code`` and ``lanes_code`` put them together; ``compiled`` and ``lanes`` are the hosts.
"""
